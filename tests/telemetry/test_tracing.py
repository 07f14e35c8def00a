"""A real run, and its trace as a collector receives it over OTLP."""

from collections import Counter
from collections.abc import Iterator
import http.client
import json
import socket
import sys
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest

from copilot_admin.asgi import application
from copilot_admin.config.observability import TraceSettings
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Access, Outcome
from copilot_admin.telemetry import finished_runs, tracing
from copilot_admin.telemetry.spans import Tracer
from tests.factories import make_provider, make_published
from tests.live_server import serving
from tests.polling import HANGS_SECONDS, eventually
from tests.telemetry.collector import TestCollector, collecting
from tests.telemetry.ended import RUN, ended_run
from tests.workspace.model_server import MODEL, ModelServer, calls, says

INTERNAL, CLIENT = 1, 3  # as OTLP numbers the kinds of spans
WIDGET = {
    "uuid": "11111111-1111-4111-8111-111111111111",
    "origin": "OpenBB",
    "widget_id": "price",
    "name": "Price",
    "description": "Prices",
    "params": [],
}
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
ROWS = [{"day": "Mon"}]


@pytest.fixture
def collector() -> Iterator[TestCollector]:
    """A collector that runs."""
    with collecting() as running:
        yield running


def traced(collector: TestCollector, **changes: Any) -> TraceSettings:
    return TraceSettings(
        endpoint=collector.address, headers={"x-key": "secret"}, service="desk", **changes
    )


def ask(url: str, question: dict[str, Any], **headers: str) -> tuple[UUID, bytes]:
    """Asks the copilot; gives the id of the run and the stream."""
    line = http.client.HTTPConnection(urlsplit(url).netloc, timeout=HANGS_SECONDS)
    try:
        given = {"Content-Type": "application/json", "X-Trace-Id": "chat-1", **headers}
        line.request("POST", "/v1/copilots/news/query", json.dumps(question), given)
        response = line.getresponse()
        stream = response.read()
        assert response.status == 200
        return UUID(response.headers["X-Completion-Id"]), stream
    finally:
        line.close()


def publish(model: ModelServer, **changes: Any) -> None:
    provider = make_provider(name="Scripted", kind="openai_compatible", base_url=model.url)
    make_published(slug="news", access=Access.OPEN, provider=provider, model=MODEL, **changes)


@pytest.mark.django_db(transaction=True)
class TestRealRuns:
    QUESTION = {"messages": [{"role": "human", "content": "What is the canary?"}]}

    def test_the_collector_receives_one_trace_a_run(self, settings, collector, model):
        settings.TRACES = traced(collector)
        publish(model, tools=["table"])
        model.plays(calls("table", name="Canary", description="d", rows=ROWS), says("Done."))
        with serving(application) as url:
            run_id, _ = ask(url, self.QUESTION, traceparent=PARENT)
        root = collector.root()
        assert Counter(span.name for span in collector.below(root)) == {
            "admission": 1,
            "journal accept": 1,
            f"chat {MODEL}": 2,
            "execute_tool table": 1,
            "journal finish": 1,
        }
        assert {span.trace_id for span in collector.spans} == {run_id.hex}
        assert root.links == (("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"),)
        assert root.name == "invoke_agent news"
        assert (root.kind, root.failed) == (INTERNAL, False)
        assert root.attributes["copilot.run.id"] == str(run_id)
        assert root.attributes["gen_ai.conversation.id"] == "chat-1"
        for span in collector.below(root):
            assert root.start <= span.start <= span.end <= root.end
        first, second = (span for span in collector.spans if span.name == f"chat {MODEL}")
        assert first.kind == CLIENT
        assert first.attributes["gen_ai.response.finish_reasons"] == ["tool_calls"]
        assert second.attributes["gen_ai.usage.input_tokens"] == 120
        assert (collector.services, collector.requests[0]["x-key"]) == ({"desk"}, "secret")
        assert "canary" not in repr(collector.spans).lower()

    def test_a_collector_that_is_away_changes_no_answer(self, settings, model, monkeypatch):
        monkeypatch.setattr("copilot_admin.server.lifecycle.STOP_SECONDS", 0.1)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        settings.TRACES = TraceSettings(
            endpoint=f"http://127.0.0.1:{port}", headers={}, service="desk"
        )
        publish(model)
        model.plays(says("All is well."))
        with serving(application) as url:
            _, stream = ask(url, self.QUESTION)
        assert b"All is well." in stream


def test_runs_that_failed_are_traced_and_of_the_others_a_share(collector):
    traces = Tracer(traced(collector, share=0.25))
    low, high = UUID(int=0x3FFF << 112), UUID(int=0x4000 << 112)
    traces.export(ended_run(run_id=low))
    traces.export(ended_run(run_id=high))
    traces.export(ended_run(run_id=RUN, outcome=Outcome.FAILED, error_code="ProviderBusy"))
    traces.export(ended_run(run_id=RUN, copilot="", outcome=Outcome.REFUSED))  # a stranger
    traces.shut_down(timeout=HANGS_SECONDS)
    roots = {span.trace_id: span for span in collector.spans if not span.parent_id}
    assert roots.keys() == {low.hex, RUN.hex}
    failed = roots[RUN.hex]
    assert (failed.failed, failed.attributes["error.type"]) == (True, "ProviderBusy")
    assert roots[low.hex].failed is False


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Nobody is told of runs, unless a test wants it."""
    nobody: list[Any] = []
    for module in (finished_runs, tracing):
        monkeypatch.setattr(module, "LISTENERS", nobody)
    return nobody


def test_missing_packages_are_reported_in_one_line(monkeypatch, collector):
    monkeypatch.setitem(sys.modules, "copilot_admin.telemetry.spans", None)
    with pytest.raises(ConfigurationError, match=r"requirements/traces\.txt"):
        tracing.start_tracing(traced(collector))


def test_it_starts_and_stops_with_the_server(told, collector):
    tracing.start_tracing(traced(collector, with_content=True))
    assert len(told) == 1
    assert tracing.wants_content()
    finished_runs.notify(ended_run())
    tracing.stop_tracing(timeout=HANGS_SECONDS)
    assert told == []
    assert eventually(lambda: len(collector.spans) == 4)
