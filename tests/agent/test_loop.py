"""An answer from end to end: text, calls, steps and their errors, with a scripted provider."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from copilot_admin.agent.llm.finish_reasons import EMPTY_ANSWER, ONLY_THOUGHTS, truncation
from copilot_admin.agent.loop import answer
from copilot_admin.agent.response_writer import warning_events
from copilot_admin.agent.step import MAX_ROUNDS
from copilot_admin.agent.values.answer_request import Memory, Reasoning, ServerTool, StoredTurn
from copilot_admin.agent.values.model_call import (
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    Usage,
    UsageSource,
)
from copilot_admin.agent.values.spec import CitationMode, FixedStep, StepPlace, WidgetDataMode
from copilot_admin.errors import ProviderBroke, ProviderRefused, ProviderUnavailable
from protocol.events import (
    ArtifactType,
    CitationCollection,
    FunctionCall,
    MessageArtifact,
    MessageChunk,
    StatusLevel,
    StatusUpdate,
)
from protocol.models import HumanMessage, Widgets
from tests.agent.answer_requests import (
    GENERATIONS,
    asked_arguments,
    data,
    events_of,
    fetched_pair,
    loading,
    make_query,
    make_request,
    make_spec,
    make_widget,
    never_loaded,
    outputs_of,
    second_step,
)
from tests.agent.scripted import ScriptedProvider, broken, call, text
from tests.agent.scripted import Step as Played

GAP = MessageChunk("\n\n")  # between a warning and what follows it
STEPS = (
    FixedStep(at=StepPlace.START, message="Reading", details={"source": "desk"}),
    FixedStep(at=StepPlace.END, message="Done", type=StatusLevel.WARNING),
)
ROWS: list[dict[str, Any]] = [{"day": "Mon", "close": 1.5}, {"day": "Tue", "close": 2.5}]
TABLE: dict[str, Any] = {"name": "Closes", "description": "By day.", "rows": ROWS}


def test_plain_question_streams_every_delta_without_loading_the_turn():
    with ScriptedProvider([text("Rates", " fell", ".")]) as provider:
        outputs = outputs_of(make_request(provider, load_stored_turn=never_loaded))
    assert outputs == [
        MessageChunk("Rates"),
        MessageChunk(" fell"),
        MessageChunk("."),
        Finish("stop"),
    ]


def test_steps_stand_around_the_answer_in_the_builders_words():
    with ScriptedProvider([text("Hi")]) as provider:
        events = events_of(make_request(provider, spec=make_spec(steps=STEPS)))
    assert events == [
        StatusUpdate(message="Reading", details=({"source": "desk"},)),
        MessageChunk("Hi"),
        StatusUpdate(message="Done", level=StatusLevel.WARNING),
    ]


@pytest.mark.parametrize("reason", [None, "length", "content_filter"])
def test_answer_that_is_not_whole_says_so_even_when_steps_are_not_shown(reason):
    spec = make_spec(steps=STEPS, show_steps=False)
    with ScriptedProvider([text("Half an", reason=reason)]) as provider:
        outputs = outputs_of(make_request(provider, spec=spec))
    sentence = truncation(Finish(reason))
    assert sentence is not None
    assert outputs == [
        MessageChunk("Half an"),
        MessageChunk("\n\n"),
        StatusUpdate(message=sentence, level=StatusLevel.WARNING),
        MessageChunk(sentence),
        Finish(reason),
    ]


@pytest.mark.parametrize("pieces", [(), ("",), (" \n",)])
def test_empty_answer_gets_a_sentence(pieces):
    with ScriptedProvider([text(*pieces)]) as provider:
        outputs = outputs_of(make_request(provider))
    assert outputs[-3:] == [*warning_events(EMPTY_ANSWER), Finish("stop")]


def test_answer_is_cut_at_the_byte_limit_and_never_within_a_character():
    with ScriptedProvider([text("abc", "déf", "never")]) as provider:
        outputs = outputs_of(make_request(provider, max_answer_bytes=5))
    sentence = truncation(Finish("length"))
    assert sentence is not None
    assert outputs == [
        MessageChunk("abc"),
        MessageChunk("d"),
        Usage(input_tokens=3, output_tokens=1, source=UsageSource.ESTIMATED),
        MessageChunk("\n\n"),
        *warning_events(sentence),
        Finish("length"),
    ]


def test_thoughts_without_end_are_cut_at_the_same_limit():
    script = Played((ReasoningDelta("hmm"), ReasoningDelta("mé!"), TextDelta("x"), Finish("stop")))
    with ScriptedProvider([script]) as provider:
        outputs = outputs_of(make_request(provider, max_answer_bytes=5))
    assert outputs == [
        Reasoning("hmm"),
        Reasoning("m"),
        Usage(input_tokens=3, source=UsageSource.ESTIMATED),
        *warning_events(ONLY_THOUGHTS),
        Finish("length"),
    ]


def test_error_before_the_first_words_sends_nothing():
    with (
        ScriptedProvider([broken(ProviderRefused("No."))]) as provider,
        pytest.raises(ProviderRefused),
    ):
        assert events_of(make_request(provider, spec=make_spec(steps=STEPS))) == []


async def outputs_until_error(request, error):
    outputs = []
    with pytest.raises(error):
        async for output in answer(request):
            outputs.append(output)
    return outputs


@pytest.mark.parametrize("widgets", [Widgets(), Widgets(primary=(make_widget(),))])
def test_an_error_after_the_first_text_follows_it_and_is_not_retried(widgets):
    query = make_query(widgets=widgets)
    with ScriptedProvider([broken(ProviderBroke("Gone."), "Half")]) as provider:
        request = make_request(provider, query=query)
        outputs = asyncio.run(outputs_until_error(request, ProviderBroke))
    assert outputs == [MessageChunk("Half")], "also if it was held back for a client call"


def test_provider_that_is_unavailable_before_its_first_word_is_asked_again():
    script = [broken(ProviderUnavailable("Down.")), text("Up")]
    with ScriptedProvider(script) as provider:
        assert outputs_of(make_request(provider)) == [MessageChunk("Up"), Finish("stop")]


def test_stream_that_is_given_up_closes_the_providers():
    async def first_only(ask):
        async with aclosing(answer(ask)) as outputs:
            return await anext(outputs)

    provider = ScriptedProvider([text("one", "two")])
    assert asyncio.run(first_only(make_request(provider))) == MessageChunk("one")
    assert provider.open == 0


def test_a_table_is_made_on_the_server():
    script = [call("table", before=["Here: "], **TABLE), text("Done.")]
    with ScriptedProvider(script) as provider:
        outputs = outputs_of(
            make_request(provider, spec=make_spec(tools=("table",), steps=STEPS[:1]))
        )
    artifact = next(one for one in outputs if isinstance(one, MessageArtifact))
    assert outputs == [
        StatusUpdate(message="Reading", details=({"source": "desk"},)),
        MessageChunk("Here: "),
        ServerTool(
            "table",
            provider.calls[1].messages[-2].tool_calls[0].arguments,
            "The user now sees the table 'Closes' with 2 rows.",
        ),
        MessageArtifact(
            type=ArtifactType.TABLE,
            uuid=artifact.uuid,
            artifact_name="Closes",
            description="By day.",
            content=ROWS,
        ),
        MessageChunk("Done."),
        Finish("stop"),
    ]
    assistant, tool = provider.calls[1].messages[-2:]
    assert (assistant.text, assistant.tool_calls[0].id) == ("Here: ", tool.tool_call_id)


def test_the_model_can_correct_wrong_arguments():
    wrong = call("table", name="Closes", description="By day.", rows=[])
    with ScriptedProvider([wrong, call("table", **TABLE), text("Done.")]) as provider:
        outputs = outputs_of(make_request(provider, spec=make_spec(tools=("table",))))
    told = provider.calls[1].messages[-1].text
    assert told == (
        "Wrong arguments for the tool 'table': rows: List should have at least 1 item after "
        "validation, not 0."
    )
    assert [type(one) for one in outputs] == [
        ServerTool,
        ServerTool,
        MessageArtifact,
        MessageChunk,
        Finish,
    ]


def test_second_mistake_is_explained_to_the_user_and_ends_the_use_of_tools():
    script = [call("tabel", **TABLE), call("no good!", **TABLE), text("Without.")]
    with ScriptedProvider(script) as provider:
        events = events_of(make_request(provider, spec=make_spec(tools=("table",))))
    sentence = (
        "The model used its tools wrongly more than once, so it answers without them. "
        "The last problem: There is no tool called 'no good!'."
    )
    assert events == [*warning_events(sentence), GAP, MessageChunk("Without.")]
    assert provider.calls[1].messages[-1].text == ("There is no tool called 'tabel'. Tools: table.")
    assert provider.calls[2].tools == ()
    assert provider.calls[2].messages[-2].tool_calls[0].name == "no_good_"


def test_broken_arguments_are_not_repeated_to_the_provider():
    wrong = Played((ToolCall(id="1", name="table", arguments='{"na'), Finish("tool_calls")))
    with ScriptedProvider([wrong, text("Sorry.")]) as provider:
        outputs_of(make_request(provider, spec=make_spec(tools=("table",))))
    assert provider.calls[1].messages[-2].tool_calls == (
        ToolCall(id="1", name="table", arguments="{}"),
    )


def test_tool_calls_of_a_cut_answer_are_not_carried_out():
    script = Played((ToolCall(id="1", name="table", arguments='{"na'), Finish("length")))
    with ScriptedProvider([script]) as provider:
        outputs = outputs_of(make_request(provider, spec=make_spec(tools=("table",))))
    assert [type(one) for one in outputs] == [StatusUpdate, MessageChunk, Finish]


def test_rounds_are_bounded_and_the_last_one_offers_no_tools():
    script = [call("table", **TABLE)] * (MAX_ROUNDS - 1) + [text("Enough.")]
    with ScriptedProvider(script) as provider:
        outputs = outputs_of(make_request(provider, spec=make_spec(tools=("table",))))
    assert outputs[-2:] == [MessageChunk("Enough."), Finish("stop")]
    assert [bool(one.tools) for one in provider.calls] == [True] * (MAX_ROUNDS - 1) + [False]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_fetch_asks_for_the_selected_widget_before_the_model(generation):
    widget = make_widget()
    query = make_query(widgets=Widgets(primary=(widget,)), generation=generation)
    spec = make_spec(widget_data=WidgetDataMode.FETCH, steps=STEPS)
    with ScriptedProvider([]) as provider:
        step, event = outputs_of(make_request(provider, query=query, spec=spec))
    assert step == StatusUpdate(message="Reading", details=({"source": "desk"},))
    assert isinstance(event, FunctionCall)
    assert (event.function, event.input_arguments) == ("get_widget_data", asked_arguments(widget))
    assert event.extra_state["copilot_function_call_arguments"] == {
        "data_sources": [{"origin": "OpenBB API", "widget_id": "prices_1"}]
    }


@pytest.mark.parametrize("generation", GENERATIONS)
def test_second_step_answers_with_citations_between_text_and_end_steps(generation):
    widget = make_widget()
    query = second_step(widget, data('[{"close": 1.5}]'), generation=generation)
    spec = make_spec(widget_data=WidgetDataMode.FETCH, steps=STEPS)
    with ScriptedProvider([text("It closed", " at 1.5.")]) as provider:
        outputs = outputs_of(make_request(provider, query=query, spec=spec))
    citations = next(one for one in outputs if isinstance(one, CitationCollection))
    assert citations.citations[0].source_info == {
        "type": "widget",
        "uuid": widget.uuid,
        "origin": "OpenBB API",
        "widget_id": "prices_1",
        "name": "Prices 1",
        "description": "Prices of symbol 1.",
        "metadata": {"input_args": {"symbol": "SYM1"}},
        "citable": True,
    }
    assert citations.citations[0].details == ({"Name": "Prices 1", "symbol": "SYM1"},)
    assert outputs == [
        MessageChunk("It closed at 1.5."),
        citations,
        StatusUpdate(message="Done", level=StatusLevel.WARNING),
        Finish("stop"),
    ]


def test_no_citations_when_they_are_off():
    query = second_step(make_widget(), data("1.5"))
    with ScriptedProvider([text("1.5")]) as provider:
        outputs = outputs_of(
            make_request(provider, query=query, spec=make_spec(citations=CitationMode.OFF))
        )
    assert outputs == [MessageChunk("1.5"), Finish("stop")]


def test_model_that_asks_for_data_ends_the_step_with_nothing_but_status_updates_before_the_call():
    widget = make_widget()
    query = make_query(widgets=Widgets(secondary=(widget,)))
    script = [call("get_widget_data", before=["Let me ", "look."], widgets=[{"id": widget.ref}])]
    with ScriptedProvider(script) as provider:
        step, event = outputs_of(make_request(provider, query=query, spec=make_spec(steps=STEPS)))
    assert isinstance(step, StatusUpdate)
    assert isinstance(event, FunctionCall)
    assert event.input_arguments == asked_arguments(widget)


def test_client_call_wins_over_a_server_tool_of_the_same_answer():
    widget = make_widget()
    query = make_query(widgets=Widgets(primary=(widget,)))
    both = Played(
        (
            *call("table", **TABLE).actions[:-1],
            *call("get_widget_data", call_id="2", widgets=[{"id": widget.ref}]).actions,
        )
    )
    with ScriptedProvider([both]) as provider:
        outputs = outputs_of(make_request(provider, query=query, spec=make_spec(tools=("table",))))
    assert [type(one) for one in outputs] == [FunctionCall]


def test_held_text_is_sent_before_a_table():
    query = make_query(widgets=Widgets(primary=(make_widget(),)))
    with ScriptedProvider([call("table", before=["See:"], **TABLE), text("Done.")]) as provider:
        outputs = outputs_of(make_request(provider, query=query, spec=make_spec(tools=("table",))))
    assert [type(one) for one in outputs] == [
        ServerTool,
        MessageChunk,
        MessageArtifact,
        MessageChunk,
        Finish,
    ]


def test_memory_of_the_first_step_reaches_the_prompt_of_the_second():
    query = second_step(make_widget(), data("1.5"))
    spec = make_spec(system_prompt="In {{ timezone }}.")
    load_stored_turn = loading(StoredTurn(memory=Memory(timezone="Asia/Seoul")))
    with ScriptedProvider([text("ok")]) as provider:
        outputs_of(
            make_request(provider, query=query, spec=spec, load_stored_turn=load_stored_turn)
        )
    assert provider.calls[0].messages[0].text.startswith("In Asia/Seoul.")


def test_client_carries_the_memory_when_the_server_has_none():
    widget = make_widget()
    first = make_query(
        widgets=Widgets(primary=(widget,)),
        timezone="Asia/Seoul",
        selected_skills=({"slug": "brief", "contentMarkdown": "Be brief."},),
    )
    fetch = make_spec(widget_data=WidgetDataMode.FETCH, system_prompt="In {{ timezone }}.")
    with ScriptedProvider([text("ok")]) as provider:
        (event,) = outputs_of(make_request(provider, query=first, spec=fetch))
        assert isinstance(event, FunctionCall)
        second = make_query(
            HumanMessage("What moved?"),
            *fetched_pair([widget], data("1.5"), extra_state=event.extra_state),
            widgets=first.widgets,
        )
        outputs_of(make_request(provider, query=second, spec=fetch))
    system, question, *_ = provider.calls[0].messages
    assert system.text.startswith("In Asia/Seoul.")
    assert question.text == "What moved?\n\nThe user chose the skill 'brief':\nBe brief."


def test_reasoning_is_a_step_before_the_words_it_led_to_if_the_builder_wants_it():
    thoughts = Played(
        (
            ReasoningDelta("Rates "),
            ReasoningDelta("matter. "),
            TextDelta("They rose."),
            TextDelta(" A lot."),
            Finish("stop"),
        )
    )
    seen = StatusUpdate(
        message="Thinking about the question", details=({"Thought": "Rates matter."},)
    )
    for changes, steps in (
        ({"reasoning_steps": True}, [seen]),
        ({"reasoning_steps": True, "show_steps": False}, []),
        ({}, []),
    ):
        with ScriptedProvider([thoughts]) as provider:
            events = events_of(make_request(provider, spec=make_spec(**changes)))
        assert events == [*steps, MessageChunk("They rose."), MessageChunk(" A lot.")]
