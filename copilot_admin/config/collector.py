"""Where the traces of runs go."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from copilot_admin.config.addresses import parts_of
from copilot_admin.config.env import BadSetting

PROTOCOL = "http/protobuf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Collector:
    """Where traces go.

    Attributes:
        address: Of its OTLP receiver over HTTP, without `/v1/traces`.
        headers: Of each request to it.
        service: The name of this server there.
        share: Of the runs that go there; those that failed go all.
        with_content: With words of questions and answers.
    """

    address: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    service: str
    share: float = 1.0
    with_content: bool = False

    @property
    def is_there(self) -> bool:
        """Whether traces go anywhere."""
        return bool(self.address)


def check_collector(collector: Collector, *, protocol: str) -> Collector:
    """The collector, if it can be one.

    Raises:
        BadSetting: Its address is no URL, or it is to be spoken to in another protocol.
    """
    if not collector.is_there:
        return collector
    parts = parts_of(collector.address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadSetting(
            "OTEL_EXPORTER_OTLP_ENDPOINT is no URL. Use one such as http://collector:4318."
        )
    if protocol != PROTOCOL:
        raise BadSetting(
            f"OTEL_EXPORTER_OTLP_PROTOCOL is {protocol!r}. Only {PROTOCOL} is spoken here."
        )
    return collector


def headers_in(text: str) -> Mapping[str, str]:
    """The headers in `OTEL_EXPORTER_OTLP_HEADERS`: `name=value`, separated by commas.

    Source: https://opentelemetry.io/docs/specs/otel/protocol/exporter/

    Raises:
        BadSetting: A part of it is no header.
    """
    headers = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            raise BadSetting(
                "OTEL_EXPORTER_OTLP_HEADERS is no list of headers. Use name=value,other=value."
            )
        headers[unquote(name).strip().lower()] = unquote(value).strip()
    return headers
