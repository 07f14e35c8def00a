"""An OpenTelemetry collector on the loopback: takes traces over OTLP/HTTP, and keeps them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import threading
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

POLL_SECONDS = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A span as it arrived; times in nanoseconds since 1970."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    kind: int
    start: int
    end: int
    attributes: dict[str, Any]
    failed: bool
    links: tuple[tuple[str, str], ...]


@dataclass
class TestCollector:
    """Received requests, and the status to answer with.

    Attributes:
        status: Of every answer.
        services: Names of those who sent.
    """

    __test__ = False

    address: str = ""
    status: int = 200
    requests: list[dict[str, str]] = field(default_factory=list)
    services: set[str] = field(default_factory=set)
    spans: list[Received] = field(default_factory=list)

    def take(self, headers: dict[str, str], body: bytes) -> None:
        """Reads a request."""
        message = ExportTraceServiceRequest.FromString(body)
        for resource in message.resource_spans:
            self.services.add(_attributes(resource.resource.attributes)["service.name"])
            for scope in resource.scope_spans:
                self.spans += map(_received, scope.spans)
        self.requests.append(headers)

    def root(self) -> Received:
        """The one span without a parent."""
        (root,) = [span for span in self.spans if not span.parent_id]
        return root

    def below(self, parent: Received) -> list[Received]:
        """The children of a span, in the order in which they began."""
        children = [span for span in self.spans if span.parent_id == parent.span_id]
        return sorted(children, key=lambda span: span.start)


@contextmanager
def collecting(path: str = "/v1/traces") -> Iterator[TestCollector]:
    """A collector on a free port."""
    collector = TestCollector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.path == path
            if collector.status == 200:
                collector.take({key.lower(): value for key, value in self.headers.items()}, body)
            self.send_response(collector.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    collector.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,), daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _received(span: Any) -> Received:
    return Received(
        name=span.name,
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        kind=span.kind,
        start=span.start_time_unix_nano,
        end=span.end_time_unix_nano,
        attributes=_attributes(span.attributes),
        failed=span.status.code == 2,
        links=tuple((link.trace_id.hex(), link.span_id.hex()) for link in span.links),
    )


def _attributes(rows: Any) -> dict[str, Any]:
    return {row.key: _value(row.value) for row in rows}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    return getattr(value, kind)
