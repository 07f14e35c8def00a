"""All Django settings, made of the environment variables of `environment.py`."""

from hashlib import sha256
import os
from pathlib import Path
import secrets
import sys
from urllib.parse import urlsplit

from django.utils.translation import gettext_lazy as _
import django_stubs_ext

from copilot_admin.config import encryption, logs
from copilot_admin.config.databases import is_maintenance_command, parse_database_url
from copilot_admin.environment import (
    MAIL_PORTS,
    find_unknown_variables,
    load_environment,
    load_or_create_secret,
)

django_stubs_ext.monkeypatch()  # makes ModelAdmin[Row] possible at runtime

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = BASE_DIR / "var"
KEYS_DIR = VAR_DIR / "keys"

env = load_environment()
PRODUCTION = env.copilot_env == "production"
DEBUG = env.copilot_debug

# URLs and clients
PUBLIC_URL = env.public_url
_PUBLIC_HOST = urlsplit(PUBLIC_URL).hostname
ALLOWED_HOSTS: list[str] = [*env.allowed_hosts, *([_PUBLIC_HOST] if _PUBLIC_HOST else [])]
if not PRODUCTION:
    ALLOWED_HOSTS = [*(ALLOWED_HOSTS or [env.host]), "localhost", "127.0.0.1", "[::1]"]
CORS_ORIGINS = env.cors_origins
CORS_PINNED = "cors_origins" in env.model_fields_set  # the admin can't add more
CORS_HEADERS = env.copilot_cors_headers
TRUSTED_PROXIES = env.forwarded_allow_ips
FORWARDED_ALLOW_IPS = ",".join(map(str, TRUSTED_PROXIES))
FETCH_ALLOW = env.copilot_fetch_allow

# End users
USER_TOKENS = env.user_tokens if env.user_tokens.is_configured else None
USER_PROXIES = env.user_proxies
USER_REQUIRED = env.copilot_user_required
USER_UPSTREAM = env.copilot_user_upstream
USER_IN_LOGS = env.copilot_user_in_logs

# Secrets; a development server creates its own, away from the data that they protect.
SECRET_KEY = env.secret_key.get_secret_value() or load_or_create_secret(
    KEYS_DIR / "secret-key", lambda: secrets.token_urlsafe(64)
)
SECRET_KEY_FALLBACKS = [key.get_secret_value() for key in env.secret_key_fallbacks]
ENCRYPTION_KEYS = env.copilot_encryption_keys or (
    encryption.parse_key(load_or_create_secret(KEYS_DIR / "encryption-key", encryption.create_key)),
)
AUDIT_KEYS = tuple(key.get_secret_value() for key in env.copilot_audit_keys)
OPENAI_API_KEY = env.openai_api_key.get_secret_value()
OPENAI_BASE_URL = env.openai_base_url
OPENAI_MODEL = env.openai_model
KEY_VARIABLES = env.copilot_key_variables
UNKNOWN_VARIABLES = find_unknown_variables(env)

# Data
DATA_DIR = Path(os.path.realpath(env.copilot_data_dir or VAR_DIR / "data"))
try:
    DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
except OSError as error:
    raise SystemExit(f"COPILOT_DATA_DIR: {DATA_DIR} can't be created: {error.strerror}.") from None
PGBOUNCER = env.copilot_pgbouncer
DATABASES = {
    "default": parse_database_url(
        env.database_url.get_secret_value(),
        data_dir=DATA_DIR,
        maintenance=is_maintenance_command(sys.argv),
        pgbouncer=PGBOUNCER,
    )
}
DATABASE_WAIT_SECONDS = 4.0  # a request of the API gets 503 then
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
MEDIA_ROOT = DATA_DIR / "uploads"
MEDIA_URL = "/uploads/"  # no view serves it: the API streams images
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o700
logs.hide(SECRET_KEY, str(DATABASES["default"].get("PASSWORD", "")), *env.traces.headers.values())

# Redis: what several workers share; without it, Django caches in the memory of the process
CHANNEL_SOCKET_TIMEOUT_SECONDS = 30  # the layer waits 5 s for a message, as redis-py does
REDIS_URL = env.redis_url.get_secret_value()
if REDIS_URL:
    CACHES = {
        "default": {
            "BACKEND": "copilot_admin.config.cache.FallbackCache",
            "LOCATION": REDIS_URL,
            "OPTIONS": {
                "IGNORE_EXCEPTIONS": True,  # an unreachable cache is an empty cache
                # Not pickle: writers to Redis must not run code here.
                "SERIALIZER": "django_redis.serializers.json.JSONSerializer",
                "SOCKET_CONNECT_TIMEOUT": 1,
                "SOCKET_TIMEOUT": 1,
            },
            "VERSION": 3,  # values of other serializers aren't read
        }
    }
    DJANGO_REDIS_LOG_IGNORED_EXCEPTIONS = True
    _HOST = {"address": REDIS_URL, "socket_timeout": CHANNEL_SOCKET_TIMEOUT_SECONDS}
    _LAYER = {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": [_HOST]}}
    CHANNEL_LAYERS = {"default": _LAYER}
else:
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}

# Limits; uploads stay in memory, so that a question never lies in a temporary file.
MAX_BODY_BYTES = int(env.copilot_max_body_mb * 1024 * 1024)
MAX_MESSAGES = env.copilot_max_messages
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES
FILE_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES
DATA_UPLOAD_MAX_NUMBER_FILES = 1000  # copilot files of one import
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000  # a copilot with a hundred rows in each of its lists
# None: automatic, which means off outside production
ANONYMOUS_CONCURRENT = env.copilot_anonymous_concurrent
ANONYMOUS_PER_MINUTE = env.copilot_anonymous_per_minute
BUDGET_ZONE = env.copilot_budget_zone
DRAIN_SECONDS = env.copilot_drain_s

# Observability
AUDIT_LOG = env.copilot_audit_log
METRICS = env.metrics
TRACES = env.traces

# Mail
EMAIL_HOST = env.email_host
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'dummy'}.EmailBackend"
EMAIL_PORT = env.email_port or MAIL_PORTS[env.email_security]
EMAIL_HOST_USER = env.email_host_user
EMAIL_HOST_PASSWORD = env.email_host_password.get_secret_value()
EMAIL_USE_TLS = env.email_security == "starttls"
EMAIL_USE_SSL = env.email_security == "tls"
EMAIL_TIMEOUT = 10  # seconds
DEFAULT_FROM_EMAIL = env.email_from

# Background jobs
BACKGROUND = env.copilot_tasks
_IN_DATABASE = "django_tasks_db.DatabaseBackend"
_IN_THREADS = "copilot_admin.jobs.tasks.ThreadBackend"
TASKS = {"default": {"BACKEND": _IN_DATABASE if BACKGROUND == "database" else _IN_THREADS}}
REDACTION = (env.copilot_redact, tuple(one.pattern for one in env.copilot_redact_expressions))
PRUNE_HOUR = env.copilot_prune_hour  # UTC

# Django
ASGI_APPLICATION = "copilot_admin.asgi.application"
ROOT_URLCONF = "copilot_admin.urls"
INSTALLED_APPS = [
    *(["daphne"] if DEBUG else []),  # replaces `runserver`
    "django.contrib.admin.apps.SimpleAdminConfig",  # the site registers its models itself
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.forms",  # its templates, for the renderer below
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "channels",
    "django_tasks",
    "django_tasks_db",
    "ninja",
    "copilot_admin",
]
MIDDLEWARE = [
    "copilot_admin.http.errors.ErrorPages",
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "copilot_admin.http.errors.HostCheckMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "copilot_admin.admin.sign_in.middleware.SignInMiddleware",
    "copilot_admin.admin.site.site.AdminMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": [
                "django.templatetags.i18n",
                "django.templatetags.l10n",
                "django.templatetags.static",
                "copilot_admin.templatetags.ca",
                "copilot_admin.templatetags.components",
                "copilot_admin.templatetags.controls",
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"  # widgets use templates of the project
STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English"))]
FORMAT_MODULE_PATH = "copilot_admin.config"
LOCALE_PATHS = [BASE_DIR / "copilot_admin" / "locale"]
TIME_ZONE = "UTC"

# Accounts and sessions
PROVIDER_APPROVAL = env.copilot_provider_approval  # a second person approves new URLs
MEMBERS = env.copilot_members  # only members see and edit a copilot, otherwise all builders do
SSO = env.sso
PASSWORD_RESET_TIMEOUT = 3600  # seconds
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
PASSWORD_HASHERS = [
    "copilot_admin.accounts.passwords.SingleThreadedArgon2",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
_CHECKS = "django.contrib.auth.password_validation"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"{_CHECKS}.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": f"{_CHECKS}.UserAttributeSimilarityValidator"},
    {"NAME": f"{_CHECKS}.CommonPasswordValidator"},
    {"NAME": f"{_CHECKS}.NumericPasswordValidator"},
    {"NAME": "copilot_admin.accounts.passwords.VarietyValidator"},
]
ACCOUNT_ADAPTER = "copilot_admin.admin.sign_in.adapters.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]  # nobody signs up; the sign-in form asks both
_FORMS = "copilot_admin.admin.sign_in.forms"
ACCOUNT_FORMS = {
    "change_password": f"{_FORMS}.ChangePasswordForm",
    "login": f"{_FORMS}.SignInForm",
    "reauthenticate": f"{_FORMS}.ConfirmForm",
    "reset_password": f"{_FORMS}.ResetPasswordForm",
    "reset_password_from_key": f"{_FORMS}.SetPasswordForm",
}
# Failures count for an account at an address, so others behind that address aren't locked out.
# The wider limits stop guesses from many addresses and at many accounts.
ACCOUNT_RATE_LIMITS = {
    "change_password": None,
    "login": None,
    "login_failed": "10/15m/key",  # also wrong codes of the second step
    "login_failed_account": "100/h/key",
    "login_failed_address": "100/m/ip",
    "login_failed_emergency": "30/m/key",
    "reauthenticate": None,
    "reset_password": "10/h/ip,3/h/key",
    "sso_start": "120/m/ip",
}
SOCIALACCOUNT_ADAPTER = "copilot_admin.admin.sign_in.adapters.SsoAdapter"
MFA_ADAPTER = "copilot_admin.admin.sign_in.adapters.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_ISSUER = "Copilot Admin"
MFA_TOTP_TOLERANCE = 1  # steps of 30 s, for clocks that are a little off
SECOND_FACTOR = env.copilot_mfa
SESSION_MAX_SECONDS = env.copilot_session_max_h * 3600
# Browsers accept a `__Host-` cookie only over https, from this host, for the whole host.
_COOKIE_PREFIX = "__Host-" if PRODUCTION else ""
# Cookies ignore the port: two servers of a machine would sign each other's users out.
_COOKIE_SUFFIX = "" if PRODUCTION else f"_{sha256(os.fsencode(DATA_DIR)).hexdigest()[:8]}"
SESSION_COOKIE_NAME = f"{_COOKIE_PREFIX}sessionid{_COOKIE_SUFFIX}"
SESSION_COOKIE_SECURE = PRODUCTION
SESSION_COOKIE_AGE = env.copilot_session_idle_min * 60  # since the last page
CSRF_COOKIE_NAME = f"{_COOKIE_PREFIX}csrftoken{_COOKIE_SUFFIX}"
CSRF_COOKIE_SECURE = PRODUCTION
CSRF_COOKIE_HTTPONLY = True
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL] if PUBLIC_URL else []
SECURE_HSTS_SECONDS = 30 * 24 * 3600 if PRODUCTION else 0
# http/middleware.py adds security headers to all responses, also to those outside Django.
SECURE_CONTENT_TYPE_NOSNIFF = False
SECURE_REFERRER_POLICY = None
# http/middleware.py: X-Frame-Options (W002), nosniff (W006), Referrer-Policy (W022). Reverse proxy:
# redirects to https (W008). The domain's owner: HSTS for subdomains (W005) and preload (W021).
_SILENCED = ("W002", "W005", "W006", "W008", "W021", "W022")
SILENCED_SYSTEM_CHECKS = [f"security.{code}" for code in _SILENCED]

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": logs.FORMATTERS[env.copilot_log_format],
            "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
        }
    },
    "filters": {
        "access_log": {"()": "copilot_admin.config.logs.AccessLogFilter"},
        "client_errors": {"()": "copilot_admin.config.logs.ClientErrorFilter"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["client_errors"],
        }
    },
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "django.server": {"handlers": [], "level": "INFO", "propagate": True},
        "uvicorn.access": {"filters": ["access_log"]},
        "httpx2": {"level": "WARNING"},  # a line for each model call
        "psycopg.pool": {"level": "ERROR"},  # warns every second while the database is away
    },
}
