"""The spans of a run: how they nest, and their attributes."""

from dataclasses import replace
import json

from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind
import pytest

from copilot_admin.agent.values.model_call import ModelCall, ModelMessage, ModelRole, Usage
from copilot_admin.config.observability import TraceSettings
from copilot_admin.models import Outcome
from copilot_admin.telemetry.finished_runs import RunTimes
from copilot_admin.telemetry.spans import SpanExporter
from tests.telemetry.ended import QUESTION, RUN, SECOND, TABLE, asked, client_call, ended_run, ran

USAGE = Usage(input_tokens=12, output_tokens=3)


class Trace:
    """The exported spans of one run."""

    def __init__(self, run, *, with_content=False):
        exporter = InMemorySpanExporter()
        settings = TraceSettings(endpoint="http://localhost", with_content=with_content)
        SpanExporter(settings, SimpleSpanProcessor(exporter)).export(run)
        self.spans = exporter.get_finished_spans()
        self.root = self.get("invoke_agent news")

    def get(self, name):
        [span] = [span for span in self.spans if span.name == name]
        return span

    def below(self, parent):
        found = [one for one in self.spans if one.parent and one.parent == parent.context]
        return sorted(found, key=lambda span: span.start_time)

    def tree(self, span=None):
        """Names, and times in seconds after the start of the run."""
        span = span or self.root
        begins, ends = (
            round((at - self.root.start_time) / SECOND) for at in (span.start_time, span.end_time)
        )
        return (span.name, begins, ends, *map(self.tree, self.below(span)))


def get_error(span):
    return span.attributes.get("error.type", "") if span.status.status_code.name == "ERROR" else ""


def test_a_run_is_one_tree_in_the_order_of_what_happened():
    facts = (asked(began=1, ended=3), ran(began=3, ended=6), asked(began=6, ended=8))
    run = ended_run(facts=facts, client_calls=(client_call(),))
    assert Trace(run).tree() == (
        "invoke_agent news",
        0,
        10,
        ("admission", 0, 1),
        ("journal accept", 1, 2),
        ("chat small", 1, 3),
        ("execute_tool table", 3, 6),
        ("chat small", 6, 8),
        ("execute_tool get_widget_data", 8, 10),
        ("journal finish", 9, 10),
    )


def test_a_model_that_a_tool_asked_stands_below_it():
    facts = (asked(began=4, ended=5), ran(began=3, ended=6))
    trace = Trace(ended_run(facts=facts))
    tool = trace.get("execute_tool table")
    assert [span.name for span in trace.below(tool)] == ["chat small"]
    assert trace.get("chat small").context.trace_id == RUN.int


def test_the_run_says_who_asked_whom_and_what_it_used():
    span = Trace(ended_run()).root
    assert (span.kind, get_error(span)) == (SpanKind.INTERNAL, "")
    said = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "news",
        "gen_ai.agent.version": "5",
        "gen_ai.conversation.id": "chat-1",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "small",
        "gen_ai.usage.input_tokens": 120,
        "gen_ai.usage.output_tokens": 30,
        "gen_ai.usage.cache_read.input_tokens": 20,
        "gen_ai.usage.reasoning.output_tokens": 5,
        "copilot.provider": "local",
        "copilot.usage.source": "provider",
        "copilot.run.id": str(RUN),
        "copilot.trace.id": "chat-1",
        "copilot.outcome": "completed",
        "copilot.caller": "key:7",
        "copilot.generation": 3,
    }
    assert span.attributes.items() >= said.items()
    assert not span.attributes.keys() & {"enduser.id", "copilot.trial"}
    assert None not in span.attributes.values()


def test_a_model_call_has_the_attributes_of_request_and_response():
    call = ModelCall(
        model="small",
        messages=QUESTION,
        parameters={"temperature": 0.5, "max_tokens": 100, "stop": ["x"], "top_p": None},
    )
    fact = asked(call=call, usage=USAGE, finish="stop", failures=("ProviderBusy",))
    run = ended_run(facts=(fact,), provider_url="https://models.example.com/v1")
    span = Trace(run).get("chat small")
    assert (span.kind, get_error(span)) == (SpanKind.CLIENT, "")
    said = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "small",
        "gen_ai.request.stream": True,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.max_tokens": 100,
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.response.time_to_first_chunk": 1.0,
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 3,
        "copilot.provider": "local",
        "copilot.usage.source": "provider",
        "copilot.retries": 1,
        "server.address": "models.example.com",
        "server.port": 443,
    }
    assert span.attributes.items() >= said.items()
    parameters = [name for name in span.attributes if name.startswith("gen_ai.request.")]
    assert sorted(parameters) == sorted(name for name in said if name in parameters)
    assert None not in span.attributes.values()


def test_failed_spans_have_an_error_type():
    facts = (ran(failed=True), asked(failures=("ProviderBusy", "ProviderTimeout"), failed=True))
    run = ended_run(facts=facts, outcome=Outcome.FAILED, error_code="ProviderTimeout")
    errors = {one.name: get_error(one) for one in Trace(run).spans if get_error(one)}
    assert errors == {
        "invoke_agent news": "ProviderTimeout",
        "execute_tool table": "tool_error",
        "chat small": "ProviderTimeout",
    }


def test_a_refused_question_has_an_admission_and_nothing_else():
    run = ended_run(
        outcome=Outcome.REFUSED,
        error_code="draining",
        usage=None,
        times=RunTimes(received=0, ended=SECOND),
    )
    trace = Trace(run)
    assert trace.tree() == ("invoke_agent news", 0, 1, ("admission", 0, 1))
    assert {get_error(span) for span in trace.spans} == {"draining"}


class TestContents:
    FACTS = (asked(texts=["It rose."], finish="stop", tool_calls=(TABLE,)), ran(result="shown"))
    RUN = ended_run(facts=FACTS, client_calls=(client_call(),))
    WORDS = ("Be brief", "What moved", "It rose", "Prices", "shown", "secret")

    def text(self, run, *, with_content):
        return "".join(span.to_json() for span in Trace(run, with_content=with_content).spans)

    @pytest.mark.parametrize(("keeps", "with_content"), [(True, False), (False, True)])
    def test_there_is_no_content_unless_it_is_enabled_and_kept(self, keeps, with_content):
        text = self.text(replace(self.RUN, keeps_content=keeps), with_content=with_content)
        assert [word for word in self.WORDS if word in text] == []

    def test_content_has_the_form_of_the_conventions(self):
        spans = {one.name: one.attributes for one in Trace(self.RUN, with_content=True).spans}
        model, tool = spans["chat small"], spans["execute_tool table"]
        assert json.loads(model["gen_ai.system_instructions"]) == [
            {"type": "text", "content": "Be brief."}
        ]
        assert json.loads(model["gen_ai.input.messages"]) == [
            {"role": "user", "parts": [{"type": "text", "content": "What moved?"}]}
        ]
        call = {"type": "tool_call", "id": "call-1", "name": "table", "arguments": TABLE.arguments}
        assert json.loads(model["gen_ai.output.messages"]) == [
            {
                "role": "assistant",
                "parts": [{"type": "text", "content": "It rose."}, call],
                "finish_reason": "stop",
            }
        ]
        assert tool["gen_ai.tool.call.arguments"] == TABLE.arguments
        assert tool["gen_ai.tool.call.result"] == "shown"
        client = spans["execute_tool get_widget_data"]
        assert json.loads(client["gen_ai.tool.call.arguments"]) == {"data_sources": ["secret"]}

    def test_tool_results_are_part_of_the_input_messages(self):
        answer = ModelMessage(role=ModelRole.TOOL, text="shown", tool_call_id="call-1")
        fact = asked(call=ModelCall(model="small", messages=(answer,)))
        span = Trace(ended_run(facts=(fact,)), with_content=True).get("chat small")
        part = {"type": "tool_call_response", "id": "call-1", "response": "shown"}
        assert json.loads(span.attributes["gen_ai.input.messages"]) == [
            {"role": "tool", "parts": [part]}
        ]
