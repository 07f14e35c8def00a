"""Settings of metrics, traces and the forwarding of the audit trail."""

from collections.abc import Mapping
from hmac import compare_digest
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from pydantic import Field, PlainValidator, SecretStr

from copilot_admin.config.variables import (
    IS_SECRET,
    Group,
    HttpUrl,
    NetworkList,
    SecretText,
    covers_everyone,
    is_in,
)


class MetricsAccess(Group):
    """Clients that may read `/metrics`: with the token, from one of the networks, or both."""

    token: SecretText = Field(
        SecretStr(""), validation_alias="COPILOT_METRICS_TOKEN", min_length=16
    )
    networks: NetworkList = Field((), validation_alias="COPILOT_METRICS_ALLOW")

    @property
    def is_enabled(self) -> bool:
        return bool(self.token or self.networks)

    @property
    def is_open_to_everyone(self) -> bool:
        return not self.token and covers_everyone(self.networks)

    def allows_address(self, address: str) -> bool:
        return not self.networks or is_in(address, self.networks)

    def allows_token(self, authorization: str) -> bool:
        """Return whether an `Authorization` header holds the token, if one is required."""
        scheme, _, token = authorization.partition(" ")
        expected = self.token.get_secret_value().encode()
        is_same = compare_digest(token.strip().encode(), expected)
        return not expected or (scheme.lower() == "bearer" and is_same)


def parse_headers(text: Any) -> Mapping[str, str]:
    """Parse `name=value,other=value`, as OpenTelemetry writes headers."""
    if isinstance(text, Mapping):
        return text
    headers = {}
    for item in filter(None, map(str.strip, text.split(","))):
        name, equals, value = item.partition("=")
        if not equals or not name.strip():
            raise ValueError("use name=value,other=value")
        headers[unquote(name).strip().lower()] = unquote(value).strip()
    return headers


class TraceSettings(Group):
    """The OpenTelemetry collector (OTLP over HTTP) that gets a trace of each run."""

    endpoint: HttpUrl = Field("", validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT")
    headers: Annotated[Mapping[str, str], PlainValidator(parse_headers), IS_SECRET] = Field(
        {}, validation_alias="OTEL_EXPORTER_OTLP_HEADERS", repr=False
    )
    protocol: Literal["http/protobuf"] = Field(
        "http/protobuf", validation_alias="OTEL_EXPORTER_OTLP_PROTOCOL"
    )
    service: str = Field("copilot-admin", validation_alias="OTEL_SERVICE_NAME")
    # Part of the runs that are traced; failed runs always are.
    share: float = Field(1, validation_alias="COPILOT_TRACE_SHARE", ge=0, le=1)
    with_content: bool = Field(False, validation_alias="COPILOT_TRACE_CONTENT")

    @property
    def is_enabled(self) -> bool:
        return bool(self.endpoint)


class SyslogServer(NamedTuple):
    host: str
    port: int


def parse_audit_log(text: Any) -> SyslogServer | str | None:
    """Parse the destination of the audit trail: stdout, or a server that takes syslog over TCP."""
    if text == "stdout":
        return "stdout"
    parts = urlsplit(text)
    if parts.scheme != "syslog" or not parts.hostname or parts.path.strip("/"):
        raise ValueError("use stdout or syslog://host:514")
    return SyslogServer(parts.hostname, parts.port or 514)
