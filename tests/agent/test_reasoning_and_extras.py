"""Thoughts become steps, and what a provider attached to a call goes back to it."""

import json

from copilot_admin.agent.llm.chat_request import RequestRules, build_request
from copilot_admin.agent.llm.finish_reasons import EMPTY_ANSWER, ONLY_THOUGHTS
from copilot_admin.agent.step import PICTURE_LEFT_OUT
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
SIGNED = {"extra_content": {"google": {"thought_signature": "S"}}}
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
    events = (StatusUpdate, MessageChunk, MessageArtifact)
    return [one for one in outputs if isinstance(one, events)]


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
    places = {"Starting": StepPlace.START, "Fetching": StepPlace.FETCH}
    fixed = tuple(FixedStep(at=place, message=words) for words, place in places.items())
    asked = calling("get_widget_data", WANTED, ReasoningDelta("I need prices."))
    changes = {"steps": fixed, "widget_data": WidgetDataMode.ASK}
    outputs, _ = answered(asked, query=asking_widgets(), **changes)
    said = [one for one in outputs if not isinstance(one, ReasoningDelta)]
    messages = ["Starting", "Thinking about the question", "Fetching: Prices 1"]
    assert [one.message for one in said[:-1]] == messages
    assert isinstance(said[-1], FunctionCall)


def test_a_thought_that_no_words_follow_is_shown_and_the_limit_is_named():
    step_shown, *warning = shown(step(ReasoningDelta("Hm."), reason="length"))
    assert step_shown == thought("Hm.")
    assert warning[-1] == MessageChunk(ONLY_THOUGHTS)
    step_shown, *warning = shown(step(ReasoningDelta("Hm.")))
    assert (step_shown, warning[-1]) == (thought("Hm."), MessageChunk(EMPTY_ANSWER))


def test_what_came_with_a_call_goes_back_when_the_client_has_carried_it_out():
    extras = CallExtras(model="small", call=SIGNED, message={"reasoning_content": "hm"})
    table = CallExtras(model="small", message={"reasoning_content": "first"})
    script = [
        calling("table", TABLE, extras=table),
        calling("get_widget_data", WANTED, extras=extras),
    ]
    outputs, _ = answered(*script, query=asking_widgets(), widget_data=WidgetDataMode.ASK)
    pair = fetched_pair([WIDGET], data("1"), extra_state=outputs[-1].extra_state)
    query = make_query(HumanMessage("q"), *pair, widgets=Widgets(primary=(WIDGET,)))
    _, provider = answered(text("Done."), query=query, widget_data=WidgetDataMode.ASK)
    messages = build_request(provider.calls[0], RequestRules())["messages"]
    earlier, fetched = (one for one in messages if "tool_calls" in one)
    assert earlier["reasoning_content"] == "first"
    assert earlier["tool_calls"][0]["function"]["name"] == "table"
    assert fetched["reasoning_content"] == "hm"
    assert fetched["tool_calls"][0]["extra_content"] == SIGNED["extra_content"]


def test_a_picture_of_the_model_is_an_artifact():
    words, picture = shown(step(TextDelta("Here:"), PictureDelta(PNG)))
    html = f'<img src="{PNG}" alt="Picture">'
    assert (words, picture.content) == (MessageChunk("Here:"), html)
    assert picture.type is ArtifactType.HTML
    (alone,) = shown(step(PictureDelta(PNG)))
    assert isinstance(alone, MessageArtifact)


def test_a_picture_that_can_not_be_shown_is_told():
    for url in ("https://example.com/a.png", "data:image/svg+xml;base64,AAAA", PNG + "A" * 10**6):
        assert shown(step(PictureDelta(url))) == [MessageChunk(PICTURE_LEFT_OUT)]
