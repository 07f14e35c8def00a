"""The settings model: one field for each environment variable, checked when the process starts."""

from collections.abc import Callable, Iterator
from contextlib import suppress
import os
from pathlib import Path
import re
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    Json,
    PlainValidator,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsError

from copilot_admin.config.databases import parse_database_url
from copilot_admin.config.encryption import EncryptionKey, parse_key
from copilot_admin.config.logs import LogFormat
from copilot_admin.config.observability import (
    MetricsAccess,
    SyslogServer,
    TraceSettings,
    parse_audit_log,
)
from copilot_admin.config.sso import SecondFactorRule, SsoSettings
from copilot_admin.config.variables import (
    ALL_NETWORKS,
    FILE_SUFFIX,
    IS_SECRET,
    KEY_PREFIX,
    WORKSPACE_ORIGINS,
    HeaderNames,
    HttpUrl,
    NetworkList,
    SecretList,
    SecretText,
    StringList,
    VariableSource,
    check_host,
    check_origin,
    covers_everyone,
    find_missing,
    is_insecure,
    is_secret,
    iter_variables,
    parse_networks,
    split_list,
)
from copilot_admin.copilots.user_tokens import ProxyRules, TokenRules, UserIdDisclosure
from copilot_admin.redaction.kinds import DataKind
from protocol.models import find_time_zone
from protocol.parsing import MAX_MESSAGES

MIN_SECRET_KEY_LENGTH = 50  # as in Django's own check
MAIL_PORTS = {"starttls": 587, "tls": 465, "none": 25}  # RFC 8314, 7.3


def _check_redis_url(secret: SecretStr) -> SecretStr:
    if urlsplit(secret.get_secret_value()).scheme not in ("redis", "rediss", "unix"):
        raise ValueError("use redis://host:6379/0, rediss://host:6379/0 or unix:///path")
    return secret


def _check_database_url(secret: SecretStr) -> SecretStr:
    parse_database_url(secret.get_secret_value(), data_dir=Path())
    return secret


def _check_time_zone(name: str) -> str:
    if find_time_zone(name) is None:
        raise ValueError("use the name of a time zone, such as Europe/Berlin")
    return name


class Environment(BaseSettings):
    """All variables; a field without an alias is the variable of its name in upper case.

    docs/settings.md explains each of them, and a test compares names and defaults.
    """

    model_config = {"validate_default": False}

    # Where it runs
    copilot_env: Literal["development", "production"] = "development"
    copilot_debug: bool = False
    host: str = "127.0.0.1"
    public_url: HttpUrl = ""
    allowed_hosts: Annotated[
        tuple[Annotated[str, AfterValidator(check_host)], ...], BeforeValidator(split_list)
    ] = ()
    forwarded_allow_ips: Annotated[
        NetworkList, BeforeValidator(lambda text: ALL_NETWORKS if text == "*" else text)
    ] = parse_networks("127.0.0.1")

    # Secrets
    secret_key: SecretText = SecretStr("")
    secret_key_fallbacks: SecretList = ()
    copilot_encryption_keys: Annotated[
        tuple[EncryptionKey, ...],
        PlainValidator(lambda text: tuple(map(parse_key, split_list(text)))),
        IS_SECRET,
    ] = ()
    copilot_audit_keys: SecretList = ()

    # Data
    copilot_data_dir: Path | None = None
    database_url: Annotated[SecretText, AfterValidator(_check_database_url)] = SecretStr("")
    copilot_pgbouncer: bool = False
    redis_url: Annotated[SecretText, AfterValidator(_check_redis_url)] = SecretStr("")
    copilot_tasks: Literal["process", "database"] = "process"
    copilot_prune_hour: int = Field(2, ge=0, le=23)
    copilot_redact: Annotated[tuple[DataKind, ...], BeforeValidator(split_list)] = ()
    copilot_redact_expressions: Json[tuple[re.Pattern[str], ...]] = ()

    # Clients
    cors_origins: Annotated[
        tuple[Annotated[str, AfterValidator(check_origin)], ...], BeforeValidator(split_list)
    ] = WORKSPACE_ORIGINS
    copilot_cors_headers: HeaderNames = ()
    copilot_fetch_allow: StringList = ()
    copilot_max_body_mb: float = Field(20, ge=0.1, le=1024)
    copilot_max_messages: int = Field(MAX_MESSAGES, ge=1, le=10_000)
    copilot_anonymous_concurrent: int | None = Field(None, ge=0, le=100_000)
    copilot_anonymous_per_minute: int | None = Field(None, ge=0, le=1_000_000)
    copilot_budget_zone: Annotated[str, AfterValidator(_check_time_zone)] = "UTC"
    copilot_drain_s: float = Field(20, ge=0, le=600)

    # End users
    user_tokens: TokenRules = TokenRules()
    user_proxies: ProxyRules = ProxyRules()
    copilot_user_required: bool = False
    copilot_user_upstream: UserIdDisclosure = UserIdDisclosure.NONE
    copilot_user_in_logs: UserIdDisclosure = UserIdDisclosure.NONE

    # People who work in the admin
    sso: SsoSettings = SsoSettings()
    copilot_members: bool = False
    copilot_provider_approval: bool = False
    copilot_mfa: SecondFactorRule = SecondFactorRule.ROLES
    copilot_session_idle_min: int = Field(480, ge=5, le=10_080)
    copilot_session_max_h: int = Field(168, ge=1, le=8760)

    # Observability
    copilot_audit_log: Annotated[SyslogServer | str | None, PlainValidator(parse_audit_log)] = None
    metrics: MetricsAccess = MetricsAccess()
    traces: TraceSettings = TraceSettings()
    copilot_log_format: LogFormat = LogFormat.TEXT

    # Mail
    email_host: str = ""
    email_from: str = Field("", pattern="@")
    email_security: Literal["starttls", "tls", "none"] = "starttls"
    email_port: int | None = Field(None, ge=1, le=65535)
    email_host_user: str = ""
    email_host_password: SecretText = SecretStr("")

    # Providers
    openai_api_key: SecretText = SecretStr("")
    openai_base_url: HttpUrl = ""
    openai_model: str = "gpt-4.1-mini"
    copilot_key_variables: StringList = ()

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (VariableSource(settings_cls),)

    @model_validator(mode="after")
    def _reject_contradictions(self) -> Self:
        problems = [*self._find_problems(), *self.sso.find_problems()]
        problems += self.user_tokens.find_problems()
        if self.copilot_env == "production":
            problems += [*self._find_production_problems(), *self._find_exposed_values()]
        if problems:
            raise ValueError("\n".join(problems))
        return self

    def _find_problems(self) -> Iterator[str]:
        if urlsplit(self.public_url).path.strip("/"):
            yield (
                "PUBLIC_URL has a path. Use a host name for this service alone, such as "
                "https://copilots.example.com."
            )
        if any(_is_weak(key, MIN_SECRET_KEY_LENGTH) for key in self.secret_key_fallbacks):
            yield "SECRET_KEY_FALLBACKS has a weak key. Remove it."
        if any(_is_weak(key, 32) for key in self.copilot_audit_keys[:1]):
            yield "COPILOT_AUDIT_KEYS starts with a weak key. Put 32 random characters first."
        proxies = self.user_proxies
        if proxies.networks and not (proxies.id_header or proxies.email_header):
            yield "COPILOT_USER_PROXIES needs COPILOT_USER_ID_HEADER or COPILOT_USER_EMAIL_HEADER."
        if self.copilot_user_required and not (self.user_tokens.is_configured or proxies.networks):
            yield "COPILOT_USER_REQUIRED needs COPILOT_USER_JWKS_URL or COPILOT_USER_PROXIES."
        yield from find_missing(EMAIL_HOST=self.email_host, EMAIL_FROM=self.email_from)
        yield from find_missing(
            EMAIL_HOST_USER=self.email_host_user, EMAIL_HOST_PASSWORD=self.email_host_password
        )
        if self.email_host_user and self.email_security == "none":
            yield "EMAIL_SECURITY is none: the password would be readable. Use starttls or tls."

    def _find_production_problems(self) -> Iterator[str]:
        if self.copilot_debug:
            yield "COPILOT_DEBUG shows settings to strangers. Remove it in production."
        if _is_weak(self.secret_key, MIN_SECRET_KEY_LENGTH):
            yield "SECRET_KEY is missing or weak. Set 50 random characters or more."
        if not self.copilot_encryption_keys:
            yield "COPILOT_ENCRYPTION_KEYS is missing. Set 32 random bytes in URL-safe base64."
        if not self.allowed_hosts and not self.public_url:
            yield "ALLOWED_HOSTS is missing. Name the hosts of this service: a.com,b.com"
        if any(host.startswith(("*", ".")) for host in self.allowed_hosts):
            yield "ALLOWED_HOSTS has a wildcard. Name each host in production."
        if self.metrics.is_open_to_everyone:
            yield "COPILOT_METRICS_ALLOW is open to everyone. Name networks, or set a token as well."

    def _find_exposed_values(self) -> Iterator[str]:
        for name, url in (
            ("PUBLIC_URL", self.public_url),
            ("COPILOT_OIDC_ISSUER", self.sso.oidc.issuer),
            ("COPILOT_USER_JWKS_URL", self.user_tokens.jwks_url),
        ):
            if is_insecure(url):
                yield f"{name} is not encrypted. Use https in production."
        for name, networks in (
            ("FORWARDED_ALLOW_IPS", self.forwarded_allow_ips),
            ("COPILOT_USER_PROXIES", self.user_proxies.networks),
            ("COPILOT_PROXY_ALLOW", self.sso.proxy.networks),
        ):
            if covers_everyone(networks):
                yield f"{name} trusts every address. Name the addresses of your proxies."


def find_unknown_variables(environment: Environment) -> list[str]:
    """Return the variables that begin like settings but set nothing, most likely misspelt."""
    known = set(environment.copilot_key_variables)
    for name, field in iter_variables(Environment):
        known |= {name, name + FILE_SUFFIX} if is_secret(field) else {name}
    prefixed = {name for name in os.environ if name.startswith("COPILOT_")}
    return sorted(name for name in prefixed - known if not name.startswith(KEY_PREFIX))


def _is_weak(key: SecretStr, min_length: int) -> bool:
    text = key.get_secret_value()
    return len(text) < min_length or len(set(text)) < 5 or "insecure" in text


def load_environment() -> Environment:
    """Read and check the variables; end the process with one line for each that is wrong."""
    try:
        return Environment()
    except SettingsError as error:
        raise SystemExit(str(error)) from None
    except ValidationError as error:
        raise SystemExit("\n".join(_describe_errors(error))) from None


def _describe_errors(error: ValidationError) -> Iterator[str]:
    """Yield a line for each wrong variable, without the value of a secret."""
    variables = dict(iter_variables(Environment))
    for details in error.errors():
        message = details["msg"].removeprefix("Value error, ")
        names = (str(part).upper() for part in details["loc"])
        name = next((name for name in names if name in variables), "")
        if not name:
            yield message
        elif is_secret(variables[name]):
            yield f"{name}: {message}"
        else:
            yield f"{name} is {str(details['input'])[:200]!r}: {message}"


def load_or_create_secret(path: Path, create: Callable[[], str]) -> str:
    """Return the secret in a file of a development server; create it for its owner if needed."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            path.touch(mode=0o600, exist_ok=False)
            path.write_text(create(), encoding="ascii")
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise SystemExit(
            f"{path} can't be used: {getattr(error, 'strerror', None) or error}. "
            "Make it writable, or set SECRET_KEY and COPILOT_ENCRYPTION_KEYS."
        ) from None
