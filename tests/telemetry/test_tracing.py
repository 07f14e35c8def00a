"""A real run, and its trace as a collector receives it over OTLP."""

from collections import Counter
from collections.abc import Iterator
import sys
from typing import Any
from uuid import UUID

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
import pytest
import requests

from copilot_admin.asgi import application
from copilot_admin.config.observability import TraceSettings
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Access, Outcome
from copilot_admin.telemetry import finished_runs
from copilot_admin.telemetry.spans import SpanExporter
from tests.factories import make_provider, make_published
from tests.http_stub import Request, http_stub
from tests.live_server import serving
from tests.polling import HANGS_SECONDS, eventually
from tests.telemetry.ended import RUN, ended_run
from tests.workspace.model_server import MODEL, ModelServer, calls, says

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
QUESTION = {"messages": [{"role": "human", "content": "What is the canary?"}]}


class TestCollector:
    """Requests that a collector got: their headers and the spans in them."""

    __test__ = False

    def __init__(self, address: str) -> None:
        self.address = address
        self.headers: list[dict[str, str]] = []
        self.spans: list[Any] = []

    def traces(self, **changes: Any) -> TraceSettings:
        headers = {"x-key": "secret"}
        return TraceSettings(endpoint=self.address, headers=headers, service="desk", **changes)

    def roots(self) -> dict[str, Any]:
        """Return the spans without a parent by their trace."""
        return {span.trace_id.hex(): span for span in self.spans if not span.parent_span_id}


@pytest.fixture
def collector() -> Iterator[TestCollector]:
    """A collector that runs."""

    def take(request: Request) -> None:
        found.headers.append(dict(request.headers))
        for resource in ExportTraceServiceRequest.FromString(request.body).resource_spans:
            for scope in resource.scope_spans:
                found.spans += scope.spans
        request.answer()

    with http_stub(take) as url:
        found = TestCollector(url)
        yield found


def ask(url: str, **headers: str) -> tuple[UUID, bytes]:
    """Ask the copilot; return the id of the run and the stream."""
    answer = requests.post(
        f"{url}/v1/copilots/news/query",
        json=QUESTION,
        headers={"X-Trace-Id": "chat-1", **headers},
        timeout=HANGS_SECONDS,
    )
    return UUID(answer.headers["X-Completion-Id"]), answer.content


def publish(model: ModelServer, **changes: Any) -> None:
    provider = make_provider(name="Scripted", kind="openai_compatible", base_url=model.url)
    make_published(slug="news", access=Access.OPEN, provider=provider, model=MODEL, **changes)


@pytest.mark.django_db(transaction=True)
def test_the_collector_receives_one_trace_a_run(settings, collector, model):
    settings.TRACES = collector.traces()
    publish(model, tools=["table"])
    rows = [{"day": "Mon"}]
    model.plays(calls("table", name="Canary", description="d", rows=rows), says("Done."))
    with serving(application) as url:
        run_id, _ = ask(url, traceparent=PARENT)
    [(trace_id, root)] = collector.roots().items()
    assert trace_id == run_id.hex
    assert (root.name, root.links[0].span_id.hex()) == ("invoke_agent news", "b7ad6b7169203331")
    below = [span for span in collector.spans if span.parent_span_id == root.span_id]
    assert Counter(span.name for span in below) == {
        "admission": 1,
        "journal accept": 1,
        f"chat {MODEL}": 2,
        "execute_tool table": 1,
        "journal finish": 1,
    }
    for span in below:
        assert root.start_time_unix_nano <= span.start_time_unix_nano
        assert span.end_time_unix_nano <= root.end_time_unix_nano
    assert collector.headers[0]["x-key"] == "secret"
    assert "canary" not in repr(collector.spans).lower()


def test_runs_that_failed_are_traced_and_of_the_others_a_share(collector):
    traces = SpanExporter(collector.traces(share=0.25))
    low, high = UUID(int=0x3FFF << 112), UUID(int=0x4000 << 112)
    traces.export(ended_run(run_id=low))
    traces.export(ended_run(run_id=high))
    traces.export(ended_run(run_id=RUN, outcome=Outcome.FAILED, error_code="ProviderBusy"))
    traces.export(ended_run(run_id=RUN, copilot="", outcome=Outcome.REFUSED))  # a stranger
    traces.shut_down(timeout=HANGS_SECONDS)
    assert collector.roots().keys() == {low.hex, RUN.hex}


def test_missing_packages_are_reported_in_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "copilot_admin.telemetry.spans", None)
    with pytest.raises(ConfigurationError, match=r"requirements/traces\.txt"):
        finished_runs.start_tracing(TraceSettings(endpoint="http://127.0.0.1:9"))


def test_it_starts_and_stops_with_the_server(monkeypatch, collector):
    listeners: list[Any] = []
    monkeypatch.setattr(finished_runs, "LISTENERS", listeners)
    finished_runs.start_tracing(TraceSettings(service="desk"))
    assert listeners == []
    finished_runs.start_tracing(collector.traces(with_content=True))
    assert len(listeners) == 1
    assert finished_runs.wants_content()
    finished_runs.notify(ended_run())
    finished_runs.stop_tracing(timeout=HANGS_SECONDS)
    assert listeners == []
    assert eventually(lambda: len(collector.spans) == 4)
