"""An answer from end to end: text, calls, steps, errors and traces, with a scripted provider."""

import asyncio
from typing import Any

import pytest

from copilot_admin.agent.llm.finish_reasons import EMPTY_ANSWER, truncation
from copilot_admin.agent.loop import answer
from copilot_admin.agent.response_writer import warning_events
from copilot_admin.agent.step import MAX_ROUNDS
from copilot_admin.agent.values.model_call import Finish, TextDelta, ToolCall, Usage, UsageSource
from copilot_admin.agent.values.spec import FixedStep, StepPlace
from copilot_admin.agent.values.tracing import ModelCallTrace, ToolTrace, Trace, Tracer
from copilot_admin.errors import ProviderBroke, ProviderUnavailable
from protocol.events import FunctionCall, MessageChunk, StatusLevel, StatusUpdate
from protocol.models import Widgets
from tests.agent.answer_requests import (
    asked_arguments,
    events_of,
    make_query,
    make_request,
    make_spec,
    make_widget,
    never_loaded,
    outputs_of,
)
from tests.agent.scripted import ScriptedProvider, Step, broken, call, text
from tests.agent.scripted import Step as Played

STEPS = (
    FixedStep(at=StepPlace.START, message="Reading", details={"source": "desk"}),
    FixedStep(at=StepPlace.END, message="Done", type=StatusLevel.WARNING),
)
ROWS: list[dict[str, Any]] = [{"day": "Mon", "close": 1.5}, {"day": "Tue", "close": 2.5}]
TABLE: dict[str, Any] = {"name": "Closes", "description": "By day.", "rows": ROWS}


def test_plain_question_streams_every_delta_without_loading_the_turn():
    with ScriptedProvider([text("Rates", " fell", ".")]) as provider:
        outputs = outputs_of(make_request(provider, load_stored_turn=never_loaded))
    assert outputs == [*map(MessageChunk, ("Rates", " fell", ".")), Finish("stop")]


def test_steps_stand_around_the_answer_in_the_builders_words():
    with ScriptedProvider([text("Hi")]) as provider:
        events = events_of(make_request(provider, spec=make_spec(steps=STEPS)))
    assert events == [
        StatusUpdate(message="Reading", details=({"source": "desk"},)),
        MessageChunk("Hi"),
        StatusUpdate(message="Done", level=StatusLevel.WARNING),
    ]


@pytest.mark.parametrize(
    "reason",
    [
        *(None, "length", "content_filter", "content_filter: RECITATION"),
        "function_call_filter: MALFORMED_FUNCTION_CALL",
    ],
)
def test_answer_that_is_not_whole_says_so_even_when_steps_are_not_shown(reason):
    spec = make_spec(steps=STEPS, show_steps=False)
    with ScriptedProvider([text("Half an", reason=reason)]) as provider:
        outputs = outputs_of(make_request(provider, spec=spec))
    sentence = truncation(Finish(reason))
    assert sentence is not None
    told = warning_events(sentence)
    assert outputs == [MessageChunk("Half an"), MessageChunk("\n\n"), *told, Finish(reason)]


@pytest.mark.parametrize("pieces", [(), ("",), (" \n",)])
def test_empty_answer_gets_a_sentence(pieces):
    with ScriptedProvider([text(*pieces)]) as provider:
        outputs = outputs_of(make_request(provider))
    assert outputs[-3:] == [*warning_events(EMPTY_ANSWER), Finish("stop")]


def test_answer_is_cut_at_the_byte_limit_and_never_within_a_character():
    with ScriptedProvider([text("abc", "déf", "never")]) as provider:
        outputs = outputs_of(make_request(provider, max_answer_bytes=5))
    assert outputs == [
        MessageChunk("abc"),
        MessageChunk("d"),
        Usage(input_tokens=3, output_tokens=1, source=UsageSource.ESTIMATED),
        MessageChunk("\n\n"),
        *warning_events(truncation(Finish("length"))),
        Finish("length"),
    ]


def kinds(outputs):
    return " ".join(type(one).__name__ for one in outputs)


def outputs_until_error(request, error):
    outputs = []
    with pytest.raises(error):
        asyncio.run(answer(request, outputs.append))
    return outputs


@pytest.mark.parametrize("widgets", [Widgets(), Widgets(primary=(make_widget(),))])
def test_an_error_after_the_first_text_follows_it_and_is_not_retried(widgets):
    query = make_query(widgets=widgets)
    with ScriptedProvider([broken(ProviderBroke("Gone."), "Half")]) as provider:
        request = make_request(provider, query=query)
        outputs = outputs_until_error(request, ProviderBroke)
    assert outputs == [MessageChunk("Half")], "also if it was held back for a client call"


def test_stream_that_is_given_up_closes_the_providers():
    async def until_first(request):
        outputs = []

        def send(output):
            outputs.append(output)
            asyncio.current_task().cancel()

        with pytest.raises(asyncio.CancelledError):
            await answer(request, send)
        return outputs

    provider = ScriptedProvider([text("one", "two")])
    assert asyncio.run(until_first(make_request(provider))) == [MessageChunk("one")]
    assert provider.open == 0


def test_the_model_can_correct_wrong_arguments():
    wrong = call("table", name="Closes", description="By day.", rows=[])
    with ScriptedProvider([wrong, call("table", **TABLE), text("Done.")]) as provider:
        outputs = outputs_of(make_request(provider, spec=make_spec(tools=("table",))))
    told = provider.calls[1].messages[-1].text
    assert told == (
        "Wrong arguments for the tool 'table': rows: List should have at least 1 item after "
        "validation, not 0."
    )
    assert kinds(outputs) == "ToolExchange ToolExchange MessageArtifact MessageChunk Finish"


def test_broken_arguments_are_not_repeated_to_the_provider():
    wrong = Played((ToolCall(id="1", name="table", arguments='{"na'), Finish("tool_calls")))
    with ScriptedProvider([wrong, text("Sorry.")]) as provider:
        outputs_of(make_request(provider, spec=make_spec(tools=("table",))))
    (repeated,) = provider.calls[1].messages[-2].tool_calls
    assert repeated == ToolCall(id="1", name="table", arguments="{}")


def test_tool_calls_of_a_cut_answer_are_not_carried_out():
    script = Played((ToolCall(id="1", name="table", arguments='{"na'), Finish("length")))
    with ScriptedProvider([script]) as provider:
        outputs = outputs_of(make_request(provider, spec=make_spec(tools=("table",))))
    assert kinds(outputs) == "StatusUpdate MessageChunk Finish"


def test_rounds_are_bounded_and_the_last_one_offers_no_tools():
    script = [call("table", **TABLE)] * (MAX_ROUNDS - 1) + [text("Enough.")]
    with ScriptedProvider(script) as provider:
        outputs = outputs_of(make_request(provider, spec=make_spec(tools=("table",))))
    assert outputs[-2:] == [MessageChunk("Enough."), Finish("stop")]
    assert [bool(one.tools) for one in provider.calls] == [True] * (MAX_ROUNDS - 1) + [False]


def test_model_that_asks_for_data_ends_the_step_with_nothing_but_status_updates_before_the_call():
    widget = make_widget()
    query = make_query(widgets=Widgets(secondary=(widget,)))
    script = [call("get_widget_data", before=["Let me ", "look."], widgets=[{"id": widget.ref}])]
    with ScriptedProvider(script) as provider:
        step, event = outputs_of(make_request(provider, query=query, spec=make_spec(steps=STEPS)))
    assert isinstance(step, StatusUpdate)
    assert isinstance(event, FunctionCall)
    assert event.input_arguments == asked_arguments(widget)


def test_held_text_is_sent_before_a_table():
    query = make_query(widgets=Widgets(primary=(make_widget(),)))
    with ScriptedProvider([call("table", before=["See:"], **TABLE), text("Done.")]) as provider:
        outputs = outputs_of(make_request(provider, query=query, spec=make_spec(tools=("table",))))
    assert kinds(outputs) == "ToolExchange MessageChunk MessageArtifact MessageChunk Finish"


USAGE = Usage(input_tokens=12, output_tokens=3)


def traces_of(*script: Step, wants_content: bool = False, **spec: object) -> list[Trace]:
    traces: list[Trace] = []
    tracer = Tracer(traces.append, wants_content=wants_content)
    with ScriptedProvider(script) as provider:
        outputs_of(make_request(provider, spec=make_spec(**spec), tracer=tracer))
    return traces


def test_a_model_call_is_traced_when_it_has_ended():
    (trace,) = traces_of(Step((TextDelta("Up "), TextDelta("3 %."), USAGE, Finish("stop"))))
    assert isinstance(trace, ModelCallTrace)
    assert trace.began <= (trace.first or 0) <= trace.ended
    assert (trace.usage, trace.finish, trace.failures) == (USAGE, "stop", [])
    assert trace.call.messages[-1].text == "What moved?"
    assert trace.texts == []  # only for a tracer that wants content


def test_a_tool_is_traced_between_the_model_calls_around_it():
    script = (call("table"), call("table", **TABLE), text("Done."))
    _, wrong, first, tool, second = traces_of(*script, tools=("table",))
    assert wrong.failed
    assert isinstance(tool, ToolTrace)
    assert first.tool_calls == [tool.call]
    assert (tool.call.name, tool.failed) == ("table", False)
    assert second.call.messages[-1].text == tool.result
    assert first.ended <= tool.began <= tool.ended <= second.began


def test_failed_attempts_are_traced_with_the_one_that_worked():
    (trace,) = traces_of(broken(ProviderUnavailable("Away.")), text("Here."))
    assert trace.failures == ["ProviderUnavailable"]
    assert (trace.failed, trace.finish) == (False, "stop")


def test_an_answer_that_breaks_off_is_traced_with_its_error():
    traces: list[Trace] = []
    with ScriptedProvider([broken(ProviderBroke("Broken."), "Half")]) as provider:
        request = make_request(provider, tracer=Tracer(traces.append, wants_content=True))
        with pytest.raises(ProviderBroke):
            outputs_of(request)
    (trace,) = traces
    assert (trace.texts, trace.failures, trace.failed) == (["Half"], ["ProviderBroke"], True)
