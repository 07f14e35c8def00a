"""The trace of a run, as plain values: which spans it has, how they nest, and what they say."""

from dataclasses import replace
import json

import pytest

from copilot_admin.agent.values.model_call import ModelCall, ModelMessage, ModelRole, Usage
from copilot_admin.models import Outcome
from copilot_admin.telemetry.finished_runs import RunTimes
from copilot_admin.telemetry.tracing import MAX_ATTRIBUTE_CHARACTERS, Span, build_span
from tests.telemetry.ended import (
    QUESTION,
    RUN,
    SECOND,
    TABLE,
    asked,
    client_call,
    ended_run,
    ran,
)

USAGE = Usage(input_tokens=12, output_tokens=3)


def tree(span: Span) -> tuple:
    """Names, and when they began and ended in seconds."""
    times = (span.start // SECOND, span.end // SECOND)
    return (span.name, *times, *map(tree, span.children))


def test_a_run_is_one_tree_in_the_order_of_what_happened():
    facts = (asked(began=1, ended=3), ran(began=3, ended=6), asked(began=6, ended=8))
    run = ended_run(facts=facts, client_calls=(client_call(),))
    assert tree(build_span(run, with_content=False)) == (
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
    spans = build_span(ended_run(facts=facts), with_content=False).children
    (tool,) = [span for span in spans if span.name == "execute_tool table"]
    assert [span.name for span in tool.children] == ["chat small"]
    assert "chat small" not in [span.name for span in spans]


def test_the_run_says_who_asked_whom_and_what_it_used():
    span = build_span(ended_run(), with_content=False)
    assert (span.is_client, span.error) == (False, "")
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
    assert span.known_attributes.items() >= said.items()
    assert not span.known_attributes.keys() & {"enduser.id", "copilot.trial"}
    assert None not in span.known_attributes.values()


def test_the_run_names_its_user_where_that_is_wanted():
    assert (
        build_span(ended_run(user="ada"), with_content=False).known_attributes["enduser.id"]
        == "ada"
    )


def test_a_call_of_a_model_says_what_was_asked_for_and_what_came():
    call = ModelCall(
        model="small",
        messages=QUESTION,
        parameters={"temperature": 0.5, "max_tokens": 100, "stop": ["x"], "top_p": None},
    )
    fact = asked(call=call, usage=USAGE, finish="stop", failures=("ProviderBusy",))
    run = ended_run(facts=(fact,), provider_url="https://models.example.com/v1")
    (span,) = [
        one for one in build_span(run, with_content=False).children if one.name == "chat small"
    ]
    assert (span.is_client, span.error) == (True, "")
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
    assert span.known_attributes.items() >= said.items()
    parameters = [name for name in span.known_attributes if name.startswith("gen_ai.request.")]
    assert sorted(parameters) == sorted(name for name in said if name in parameters)
    assert None not in span.known_attributes.values()


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("", (None, None)),
        ("http://[::1]:8000/v1", ("::1", 8000)),
        ("http://localhost", ("localhost", 80)),
        ("http://localhost:eighty", (None, None)),
        ("no address", (None, None)),
    ],
)
def test_the_server_of_a_model_is_named_where_it_has_a_name(address, found):
    run = ended_run(facts=(asked(),), provider_url=address)
    (span,) = [
        one for one in build_span(run, with_content=False).children if one.name == "chat small"
    ]
    assert (
        span.known_attributes.get("server.address"),
        span.known_attributes.get("server.port"),
    ) == found


def test_what_failed_says_as_what():
    facts = (ran(failed=True), asked(failures=("ProviderBusy", "ProviderTimeout"), failed=True))
    run = ended_run(facts=facts, outcome=Outcome.FAILED, error_code="ProviderTimeout")
    span = build_span(run, with_content=False)
    errors = {one.name: one.error for one in (span, *span.children) if one.error}
    assert errors == {
        "invoke_agent news": "ProviderTimeout",
        "execute_tool table": "tool_error",
        "chat small": "ProviderTimeout",
    }


@pytest.mark.parametrize("outcome", [Outcome.CANCELLED, Outcome.TRUNCATED])
def test_who_leaves_or_is_cut_has_not_failed(outcome):
    span = build_span(ended_run(outcome=outcome, error_code="truncated"), with_content=False)
    assert span.error == ""


def test_a_refused_question_has_an_admission_and_nothing_else():
    run = ended_run(
        outcome=Outcome.REFUSED,
        error_code="draining",
        usage=None,
        times=RunTimes(received=0, ended=SECOND),
    )
    span = build_span(run, with_content=False)
    assert (tree(span), span.error) == (
        ("invoke_agent news", 0, 1, ("admission", 0, 1)),
        "draining",
    )
    assert span.children[0].error == "draining"


def test_a_draft_and_a_trial_say_so():
    attributes = build_span(
        ended_run(version=0, is_trial=True), with_content=False
    ).known_attributes
    assert (attributes["gen_ai.agent.version"], attributes["copilot.trial"]) == ("draft", True)


class TestContents:
    FACTS = (
        asked(text="It rose.", finish="stop", tool_calls=(TABLE,)),
        ran(result="shown"),
    )
    RUN = ended_run(facts=FACTS, client_calls=(client_call(),))
    WORDS = ("Be brief", "What moved", "It rose", "Prices", "shown", "secret")

    def text(self, run, *, with_content):
        return repr(build_span(run, with_content=with_content))

    def test_there_are_no_words_unless_they_are_asked_for(self):
        text = self.text(self.RUN, with_content=False)
        assert [word for word in self.WORDS if word in text] == []

    def test_there_are_none_of_what_may_not_be_kept(self):
        run = replace(self.RUN, keeps_content=False)
        text = self.text(run, with_content=True)
        assert [word for word in self.WORDS if word in text] == []

    def test_who_asks_for_them_gets_them_in_the_form_of_the_conventions(self):
        spans = {
            one.name: one.known_attributes
            for one in build_span(self.RUN, with_content=True).children
        }
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

    def test_results_of_tools_are_part_of_what_a_model_was_told(self):
        answer = ModelMessage(role=ModelRole.TOOL, text="shown", tool_call_id="call-1")
        fact = asked(call=ModelCall(model="small", messages=(answer,)))
        (span,) = [
            one
            for one in build_span(ended_run(facts=(fact,)), with_content=True).children
            if one.is_client
        ]
        part = {"type": "tool_call_response", "id": "call-1", "response": "shown"}
        assert json.loads(span.known_attributes["gen_ai.input.messages"]) == [
            {"role": "tool", "parts": [part]}
        ]

    def test_an_attribute_has_an_end(self):
        fact = ran(result="x" * (MAX_ATTRIBUTE_CHARACTERS + 1))
        spans = build_span(ended_run(facts=(fact,)), with_content=True).children
        (span,) = [one for one in spans if one.name == "execute_tool table"]
        assert len(span.known_attributes["gen_ai.tool.call.result"]) == MAX_ATTRIBUTE_CHARACTERS
