"""Thoughts become steps, and what a provider attached to a call goes back to it."""

import json

from copilot_admin.agent.llm.chat_request import RequestRules, build_request
from copilot_admin.agent.llm.finish_reasons import EMPTY_ANSWER, ONLY_THOUGHTS
from copilot_admin.agent.step import PICTURE_LEFT_OUT
from copilot_admin.agent.values.answer_request import Reasoning
from copilot_admin.agent.values.model_call import (
    CallExtras,
    Finish,
    PictureDelta,
    ReasoningDelta,
    TextDelta,
    ToolCall,
)
from copilot_admin.agent.values.spec import FixedStep, StepPlace, WidgetDataMode
from protocol.events import ArtifactType, FunctionCall, MessageArtifact, MessageChunk, StatusUpdate
from protocol.models import HumanMessage, Widgets
from tests.agent.answer_requests import (
    data,
    fetched_pair,
    make_query,
    make_request,
    make_spec,
    make_widget,
    outputs_of,
)
from tests.agent.scripted import ScriptedProvider, Step, text

WIDGET = make_widget()
ROWS = {"name": "T", "description": "D", "rows": [{"a": 1}]}
TABLE = json.dumps(ROWS)
WANTED = json.dumps({"widgets": [{"id": WIDGET.ref}]})
SIGNED = CallExtras(model="small", call={"extra_content": {"google": {"thought_signature": "S"}}})
PNG = "data:image/png;base64,iVBORw0KGgo="


def step(*actions, reason="stop"):
    return Step((*actions, Finish(reason)))


def calling(name, arguments, *before, id="call-1", extras=None):
    call = ToolCall(id=id, name=name, arguments=arguments, extras=extras)
    return step(*before, call, reason="tool_calls")


def thought(words):
    return StatusUpdate(message="Thinking about the question", details=({"Thought": words},))


def answered(*script, query=None, **changes):
    spec = make_spec(**{"tools": ("table",), "reasoning_steps": True, **changes})
    with ScriptedProvider(script) as provider:
        outputs = outputs_of(make_request(provider, query=query, spec=spec))
    return outputs, provider


def shown(*script, **changes):
    outputs, _ = answered(*script, **changes)
    return [
        one for one in outputs if isinstance(one, StatusUpdate | MessageChunk | MessageArtifact)
    ]


def asking_widgets():
    return make_query(HumanMessage("q"), widgets=Widgets(primary=(WIDGET,)))


def test_each_thought_is_a_step_before_the_tool_that_it_led_to():
    first, artifact, second, words = shown(
        calling("table", TABLE, ReasoningDelta("I need "), ReasoningDelta("a table.")),
        step(ReasoningDelta("Now I know."), TextDelta("Done.")),
    )
    assert (first, second) == (thought("I need a table."), thought("Now I know."))
    assert isinstance(artifact, MessageArtifact)
    assert words == MessageChunk("Done.")


def test_a_thought_is_a_step_before_the_call_of_the_client_and_behind_the_first_step():
    fixed = (
        FixedStep(at=StepPlace.START, message="Starting"),
        FixedStep(at=StepPlace.FETCH, message="Fetching"),
    )
    asked = calling("get_widget_data", WANTED, ReasoningDelta("I need prices."))
    outputs, _ = answered(
        asked, query=asking_widgets(), steps=fixed, widget_data=WidgetDataMode.ASK
    )
    said = [one for one in outputs if not isinstance(one, Reasoning)]
    assert [one.message for one in said[:-1]] == [
        "Starting",
        "Thinking about the question",
        "Fetching: Prices 1",
    ]
    assert isinstance(said[-1], FunctionCall)


def test_a_thought_that_no_words_follow_is_shown_and_the_limit_is_named():
    step_shown, *warning = shown(step(ReasoningDelta("Hm."), reason="length"))
    assert step_shown == thought("Hm.")
    assert warning[-1] == MessageChunk(ONLY_THOUGHTS)
    step_shown, *warning = shown(step(ReasoningDelta("Hm.")))
    assert (step_shown, warning[-1]) == (thought("Hm."), MessageChunk(EMPTY_ANSWER))


def steps(first, extras_of_table=None):
    """The messages of the request that follows a call of the client, with calls and results."""
    before = [calling("table", TABLE, extras=extras_of_table)] if extras_of_table else []
    outputs, _ = answered(*before, first, query=asking_widgets(), widget_data=WidgetDataMode.ASK)
    state = outputs[-1].extra_state
    pair = fetched_pair([WIDGET], data("1"), extra_state=state)
    query = make_query(HumanMessage("q"), *pair, widgets=Widgets(primary=(WIDGET,)))
    _, provider = answered(text("Done."), query=query, widget_data=WidgetDataMode.ASK)
    return state, [
        one
        for one in build_request(provider.calls[0], RequestRules())["messages"]
        if "tool_calls" in one
    ]


def test_what_came_with_a_call_goes_back_when_the_client_has_carried_it_out():
    extras = CallExtras(model="small", call=SIGNED.call, message={"reasoning_content": "hm"})
    table = CallExtras(model="small", message={"reasoning_content": "first"})
    _, (earlier, fetched) = steps(calling("get_widget_data", WANTED, extras=extras), table)
    assert earlier["reasoning_content"] == "first"
    assert earlier["tool_calls"][0]["function"]["name"] == "table"
    assert fetched["reasoning_content"] == "hm"
    assert fetched["tool_calls"][0]["extra_content"] == SIGNED.call["extra_content"]


def test_a_picture_of_the_model_is_an_artifact():
    words, picture = shown(step(TextDelta("Here:"), PictureDelta(PNG)))
    assert words == MessageChunk("Here:")
    assert (picture.type, picture.content) == (
        ArtifactType.HTML,
        f'<img src="{PNG}" alt="Picture">',
    )
    (alone,) = shown(step(PictureDelta(PNG)))
    assert isinstance(alone, MessageArtifact)


def test_a_picture_that_can_not_be_shown_is_told():
    for url in ("https://example.com/a.png", "data:image/svg+xml;base64,AAAA", PNG + "A" * 10**6):
        assert shown(step(PictureDelta(url))) == [MessageChunk(PICTURE_LEFT_OUT)]
