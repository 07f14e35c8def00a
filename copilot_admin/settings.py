"""Every setting of the service, read from the environment once."""

from datetime import timedelta
from enum import StrEnum
import os
from pathlib import Path
import sys

from django.utils.translation import gettext_lazy as _

from copilot_admin.config import limits, live_pages, logs, origins, secrets
from copilot_admin.config.asking_users import Naming, check_required, proxy_rules, token_rules
from copilot_admin.config.audit_log import destination_in
from copilot_admin.config.collector import PROTOCOL, Collector, check_collector, headers_in
from copilot_admin.config.databases import database, is_maintenance
from copilot_admin.config.env import BadSetting, process_environment
from copilot_admin.config.figure_readers import figure_readers
from copilot_admin.config.firm_log_in import firm_log_in
from copilot_admin.config.mail import MailSecurity, mail_server
from copilot_admin.config.networks import believed_proxies, trusted_proxies
from copilot_admin.config.redaction_rules import redaction_rules
from copilot_admin.config.redis_address import redis_address
from copilot_admin.redaction.kinds import DataKind
from protocol import requests

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = BASE_DIR / "var"
KEYS_DIR = VAR_DIR / "keys"


class CopilotEnv(StrEnum):
    """Where the service runs."""

    DEVELOPMENT = "development"
    PRODUCTION = "production"


class BackgroundTasks(StrEnum):
    """Who does what takes long."""

    PROCESS = "process"
    DATABASE = "database"


TASK_BACKENDS = {
    BackgroundTasks.PROCESS: "copilot_admin.jobs.background.ProcessBackend",
    BackgroundTasks.DATABASE: "django_tasks_db.DatabaseBackend",
}

env = process_environment()
COPILOT_ENV = env.choice("COPILOT_ENV", CopilotEnv, default=CopilotEnv.DEVELOPMENT)
PRODUCTION = COPILOT_ENV is CopilotEnv.PRODUCTION
DEBUG = env.flag("COPILOT_DEBUG")
if DEBUG and PRODUCTION:
    raise BadSetting("COPILOT_DEBUG is on. It shows settings to strangers: production refuses it.")

# Who reaches the service, and where.
PUBLIC_URL = origins.web_address("PUBLIC_URL", env.text("PUBLIC_URL"), production=PRODUCTION)
ALLOWED_HOSTS = origins.allowed_hosts(
    env.items("ALLOWED_HOSTS"),
    public_url=PUBLIC_URL,
    serving_host=env.text("HOST", "127.0.0.1"),
    production=PRODUCTION,
)
CORS_ORIGINS = origins.exact_origins(env.items("CORS_ORIGINS", default=origins.WORKSPACE_ORIGINS))
CORS_PINNED = bool(env.text("CORS_ORIGINS"))  # then nobody allows more of them in the admin
CORS_HEADERS = origins.header_names("COPILOT_CORS_HEADERS", env.items("COPILOT_CORS_HEADERS"))
FORWARDED_ALLOW_IPS = believed_proxies(
    env.text("FORWARDED_ALLOW_IPS", "127.0.0.1"),
    setting="FORWARDED_ALLOW_IPS",
    production=PRODUCTION,
)
# The networks of the proxies whose X-Forwarded-For counts. Only this machine: none is configured.
TRUSTED_PROXIES = trusted_proxies(FORWARDED_ALLOW_IPS)
FETCH_ALLOW = env.items("COPILOT_FETCH_ALLOW")

# Which user asks: as a token says, or a trusted proxy.
USER_TOKENS = token_rules(env, production=PRODUCTION)
USER_PROXIES = proxy_rules(env, production=PRODUCTION)
logs.hide(env.secret("COPILOT_USER_KEY"))
USER_REQUIRED = check_required(
    required=env.flag("COPILOT_USER_REQUIRED"), tokens=USER_TOKENS, proxies=USER_PROXIES
)
USER_UPSTREAM = env.choice("COPILOT_USER_UPSTREAM", Naming, default=Naming.NONE)
USER_IN_LOGS = env.choice("COPILOT_USER_IN_LOGS", Naming, default=Naming.NONE)

# Secrets. In development they are made once, and kept away from the data that they protect.
SECRET_KEY = secrets.secret_key(env, keys_dir=KEYS_DIR, production=PRODUCTION)
SECRET_KEY_FALLBACKS = secrets.older_secret_keys(env)
ENCRYPTION_KEYS = secrets.encryption_keys(env, keys_dir=KEYS_DIR, production=PRODUCTION)
AUDIT_KEYS = secrets.audit_keys(env)
OPENAI_API_KEY = env.secret("OPENAI_API_KEY")
OPENAI_BASE_URL = origins.web_address("OPENAI_BASE_URL", env.text("OPENAI_BASE_URL"))
OPENAI_MODEL = env.text("OPENAI_MODEL", "gpt-4.1-mini")
KEY_VARIABLES = env.items("COPILOT_KEY_VARIABLES")
logs.hide(SECRET_KEY, *SECRET_KEY_FALLBACKS, *AUDIT_KEYS, OPENAI_API_KEY)
logs.hide(*env.secret_items("COPILOT_ENCRYPTION_KEYS"))

# Data: the database, uploads, the spool of the journal.
DATA_DIR = Path(os.path.realpath(env.text("COPILOT_DATA_DIR") or VAR_DIR / "data"))
try:
    DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
except OSError as error:
    raise BadSetting(
        f"COPILOT_DATA_DIR: {DATA_DIR} cannot be made: {error.strerror}. Name another folder."
    ) from None
PGBOUNCER = env.flag("COPILOT_PGBOUNCER")
DATABASES = {
    "default": dict(
        database(
            env.secret("DATABASE_URL"),
            data_dir=DATA_DIR,
            maintenance=is_maintenance(sys.argv),
            pgbouncer=PGBOUNCER,
        )
    )
}
# How long a request of the API waits for the database, in all, before it is told 503.
DATABASE_WAIT_SECONDS = 4.0
logs.hide(str(DATABASES["default"].get("PASSWORD", "")))
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
MEDIA_ROOT = DATA_DIR / "uploads"
MEDIA_URL = "/uploads/"  # no view serves it: images are streamed by the API
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o700

# What workers share. Without Redis there is one worker, which shares with itself.
REDIS_URL = redis_address("REDIS_URL", env.secret("REDIS_URL"))
if REDIS_URL:
    logs.hide(REDIS_URL)
    CACHES = {
        "default": {
            "BACKEND": "copilot_admin.config.forgiving_cache.ForgivingRedisCache",
            "LOCATION": REDIS_URL,
            "OPTIONS": {
                "serializer": "copilot_admin.config.cached_json.CachedJson",
                "socket_connect_timeout": 1.0,
                "socket_timeout": 1.0,
            },
            "VERSION": 2,  # what an older release kept is not read
        }
    }
    CHANNEL_LAYERS = {"default": live_pages.over_redis(REDIS_URL)}
else:
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}

# Limits. `http/body_limit.py` rejects longer bodies, so Django keeps all of a body in memory: a
# question must not lie around in a temporary file.
MAX_BODY_BYTES = int(
    env.number("COPILOT_MAX_BODY_MB", default=20, minimum=0.1, maximum=1024) * 1024 * 1024
)
MAX_MESSAGES = env.whole_number(
    "COPILOT_MAX_MESSAGES", default=requests.MAX_MESSAGES, minimum=1, maximum=10_000
)
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES
FILE_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES
DATA_UPLOAD_MAX_NUMBER_FILES = 1000  # as many copilot files as an import takes at once
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000  # a copilot with a hundred rows in each of its lists
# Limits of each anonymous address. None: automatic, which means off outside production.
ANONYMOUS_CONCURRENT = env.optional_count("COPILOT_ANONYMOUS_CONCURRENT", maximum=100_000)
ANONYMOUS_PER_MINUTE = env.optional_count("COPILOT_ANONYMOUS_PER_MINUTE", maximum=1_000_000)
BUDGET_ZONE = limits.time_zone("COPILOT_BUDGET_ZONE", env.text("COPILOT_BUDGET_ZONE", "UTC"))
DRAIN_SECONDS = env.number("COPILOT_DRAIN_S", default=20, minimum=0, maximum=600)

# Where entries of the audit trail go besides the database.
AUDIT_LOG = destination_in(env.text("COPILOT_AUDIT_LOG"))

# Who may read the figures of `/metrics`; nobody unless one of them is set.
METRICS_READERS = figure_readers(
    env.secret("COPILOT_METRICS_TOKEN"), env.items("COPILOT_METRICS_ALLOW")
)
logs.hide(METRICS_READERS.token)

# Where traces of runs go, under the names that OpenTelemetry has for it.
COLLECTOR = check_collector(
    Collector(
        address=env.text("OTEL_EXPORTER_OTLP_ENDPOINT"),
        headers=headers_in(env.secret("OTEL_EXPORTER_OTLP_HEADERS")),
        service=env.text("OTEL_SERVICE_NAME", "copilot-admin"),
        share=env.number("COPILOT_TRACE_SHARE", default=1, minimum=0, maximum=1),
        with_content=env.flag("COPILOT_TRACE_CONTENT"),
    ),
    protocol=env.text("OTEL_EXPORTER_OTLP_PROTOCOL", PROTOCOL),
)
logs.hide(*COLLECTOR.headers.values())

# Mail: passwords that are forgotten, and what people asked to be told.
MAIL = mail_server(env)
logs.hide(MAIL.password)
EMAIL_BACKEND = MAIL.backend
EMAIL_HOST = MAIL.host
EMAIL_PORT = MAIL.port
EMAIL_HOST_USER = MAIL.user
EMAIL_HOST_PASSWORD = MAIL.password
EMAIL_USE_TLS = MAIL.security is MailSecurity.STARTTLS
EMAIL_USE_SSL = MAIL.security is MailSecurity.TLS
EMAIL_TIMEOUT = 10  # seconds
DEFAULT_FROM_EMAIL = MAIL.sender

# What takes long is done in the background: by this process, or by others that ask the database.
BACKGROUND = env.choice("COPILOT_TASKS", BackgroundTasks, default=BackgroundTasks.PROCESS)
TASKS = {"default": {"BACKEND": TASK_BACKENDS[BACKGROUND]}}

# For how long, and of what. Nights are of the server's time zone.
REDACTION = redaction_rules(
    env.items("COPILOT_REDACT"), env.text("COPILOT_REDACT_EXPRESSIONS"), known=tuple(DataKind)
)
PRUNE_HOUR = env.whole_number("COPILOT_PRUNE_HOUR", default=2, minimum=0, maximum=23)

# Django.
ASGI_APPLICATION = "copilot_admin.asgi.application"
ROOT_URLCONF = "copilot_admin.urls"
INSTALLED_APPS = [
    *(["daphne"] if DEBUG else []),  # for `runserver`: it installs Twisted's event loop
    "django.contrib.admin.apps.SimpleAdminConfig",  # our site registers its models itself
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "axes",
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
    "copilot_admin.admin.logins.middleware.PageFirmLogIns",
    "django.contrib.messages.middleware.MessageMiddleware",
    "axes.middleware.AxesMiddleware",  # asks nothing: it looks at a mark that a log-in leaves
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
FORM_RENDERER = "copilot_admin.rendering.inputs.InputsWritten"
STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "copilot_admin.rendering.static_addresses.AddressesKept"},
}
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English"))]
FORMAT_MODULE_PATH = "copilot_admin.config.formats"
LOCALE_PATHS = [BASE_DIR / "copilot_admin" / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True

# Whether copilots have members, who alone see and edit them; else all builders do.
MEMBERS = env.flag("COPILOT_MEMBERS")

# Log-ins.
FIRM_LOG_IN = firm_log_in(env, production=PRODUCTION)
logs.hide(FIRM_LOG_IN.oidc.client_secret)
PASSWORD_RESET_TIMEOUT = 3600  # seconds for which the address in a mail is good
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"  # also where the address to go to next is not one of ours
PASSWORD_HASHERS = [
    "copilot_admin.config.passwords.OneCoreArgon2",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",  # refuses before a password is looked at
    "django.contrib.auth.backends.ModelBackend",
    "copilot_admin.admin.logins.backend.FirmBackend",  # of sessions; it lets nobody in
]
AXES_LOCKOUT_PARAMETERS = ["username", "ip_address"]  # either: of an account, of an address
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_ON_SUCCESS = True
# Else a stranger could keep an account locked for ever by trying it once in 15 minutes.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_CLIENT_IP_CALLABLE = "copilot_admin.admin.frame.login.client_address"
AXES_USERNAME_CALLABLE = "copilot_admin.admin.frame.login.counted_name"
AXES_LOCKOUT_CALLABLE = "copilot_admin.admin.frame.login.locked_out"
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "csrfmiddlewaretoken"]
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
# Browsers take a cookie named __Host- only over https, from this host, for the whole host.
_COOKIE_PREFIX = "__Host-" if PRODUCTION else ""
SESSION_COOKIE_NAME = f"{_COOKIE_PREFIX}sessionid"
SESSION_COOKIE_SECURE = PRODUCTION
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = f"{_COOKIE_PREFIX}csrftoken"
CSRF_COOKIE_SECURE = PRODUCTION
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL] if PUBLIC_URL else []
SECURE_HSTS_SECONDS = 30 * 24 * 3600 if PRODUCTION else 0
SECURE_CONTENT_TYPE_NOSNIFF = False  # with the other headers, on every answer, outside Django
SILENCED_SYSTEM_CHECKS = [
    "security.W002",  # X-Frame-Options: put on outside Django
    "security.W005",  # HSTS for subdomains: theirs to decide, not ours
    "security.W006",  # nosniff: put on outside Django
    "security.W008",  # redirects to https: the proxy that ends TLS makes them
    "security.W021",  # HSTS preload: a promise for the whole domain
    "security.W022",  # Referrer-Policy: put on outside Django
]
SECURE_REFERRER_POLICY = None

LOG_FORMAT = env.choice("COPILOT_LOG_FORMAT", logs.LogFormat, default=logs.LogFormat.TEXT)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": logs.FORMATTERS[LOG_FORMAT],
            "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
        }
    },
    "filters": {
        "without_query": {"()": "copilot_admin.config.logs.WithoutQuery"},
        "refusals": {"()": "copilot_admin.config.logs.RefusalIsNoError"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["refusals"],
        }
    },
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "django.server": {"handlers": [], "level": "INFO", "propagate": True},
        "uvicorn.access": {"filters": ["without_query"]},
        "axes": {"level": "ERROR"},  # what an operator has to know is one line of ours
        # It repeats itself every second while the server is away; what fails then is told anyway.
        "psycopg.pool": {"level": "ERROR"},
    },
}
