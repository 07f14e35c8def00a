"""The demo model: labelled, repeatable, and able to show the features of a copilot."""

import json

import pytest

from copilot_admin.agent.providers.demo import DATA_LABEL, NO_ANSWER, DemoModel, next_moves
from copilot_admin.agent.providers.demo_answers import DEMO_ANSWERS, LABEL
from copilot_admin.agent.values.model_call import (
    ModelCall,
    ModelMessage,
    ModelRole,
    ToolCall,
    ToolSchema,
)
from copilot_admin.agent.values.spec import ProviderSpec, WidgetDataMode
from protocol.events import (
    ArtifactType,
    CitationCollection,
    FunctionCall,
    MessageArtifact,
    MessageChunk,
)
from protocol.models import ContextItem, HumanMessage, Widgets
from tests.agent.answer_requests import (
    asked_arguments,
    data,
    events_of,
    fetched_pair,
    make_query,
    make_request,
    make_spec,
    make_widget,
)

ROWS = [
    {"day": "Mon", "close": 1.5, "volume": 3, "notes": {"a": [1]}},
    {"day": "Tue", "close": 2.5, "volume": 4},
]
DEMO = DemoModel(ProviderSpec(name="built in", kind="demo"))
SPEC = make_spec(system_prompt="You are {{ copilot.name }}.\nBe kind.", tools=("table", "chart"))


def answered(question, *, spec=SPEC, **query):
    query = make_query(HumanMessage(question), **query)
    return events_of(make_request(DEMO, query=query, spec=spec))


def text_of(events):
    return "".join(event.delta for event in events if isinstance(event, MessageChunk))


def artifacts_in(events):
    return [event for event in events if isinstance(event, MessageArtifact)]


def with_data(question, body):
    widget = make_widget()
    pair = fetched_pair([widget], data(body))
    query = make_query(HumanMessage(question), *pair, widgets=Widgets(primary=(widget,)))
    return events_of(make_request(DEMO, query=query, spec=SPEC))


@pytest.mark.parametrize(
    ("question", "artifacts"),
    [
        ("What should I know before the open?", [ArtifactType.CHART]),
        ("Show the ten largest positions as a table.", [ArtifactType.TABLE]),
        ("Which positions helped most, and which hurt?", [ArtifactType.CHART, ArtifactType.TABLE]),
    ],
)
def test_sample_question_gets_a_labelled_answer_with_artifacts_and_sources(question, artifacts):
    events = answered(question)
    assert text_of(events).startswith(LABEL)
    assert [one.type for one in artifacts_in(events)] == artifacts
    (sources,) = (event for event in events if isinstance(event, CitationCollection))
    assert all(one.source_info["type"] == "direct retrieval" for one in sources.citations)
    assert len(events) > 10


@pytest.mark.parametrize("question", ["What  moved?", "What is the weather like?"])
def test_question_without_a_prepared_answer_gets_questions_that_have_one(question):
    text = text_of(answered(question))
    assert text.startswith(NO_ANSWER)
    offered = [line[2:] for line in text.splitlines() if line.startswith("- ")]
    assert offered
    for line in offered:
        assert LABEL in text_of(answered(line))


@pytest.mark.parametrize("answer", DEMO_ANSWERS, ids=lambda answer: answer.opening[:20])
def test_each_follow_up_has_a_prepared_answer(answer):
    for question in answer.follow_ups:
        assert LABEL in text_of(answered(question))


@pytest.mark.parametrize(
    ("question", "asked"), [("What moved?", (1, 2)), ("And prices 3?", (3,)), ("Prices 1", (1,))]
)
def test_data_is_asked_for_by_name_or_as_selected(question, asked):
    widgets = Widgets(primary=(make_widget(1), make_widget(2)), secondary=(make_widget(3),))
    (event,) = answered(question, widgets=widgets)
    assert isinstance(event, FunctionCall)
    assert event.input_arguments == asked_arguments(*map(make_widget, asked))


def test_no_data_is_asked_for_when_the_copilot_may_not():
    spec = make_spec(widget_data=WidgetDataMode.OFF)
    events = answered("q", widgets=Widgets(primary=(make_widget(),)), spec=spec)
    assert {type(event) for event in events} == {MessageChunk}


SKILLS = ({"slug": "memo", "description": "Writes."}, {"slug": "house-style", "description": "How"})


@pytest.mark.parametrize(
    ("question", "slug"), [("Write it in House style", "house-style"), ("Use a skill", "memo")]
)
def test_a_skill_is_loaded_by_name_before_anything_else(question, slug):
    widgets = Widgets(primary=(make_widget(),))
    (event,) = answered(question, skills_catalog=SKILLS, widgets=widgets)
    assert isinstance(event, FunctionCall)
    assert (event.function, event.input_arguments) == ("get_skill_content", {"slug": slug})


def test_data_is_described_and_cited():
    events = with_data("What moved?", json.dumps(ROWS))
    assert text_of(events).startswith(DATA_LABEL)
    assert "**close:** highest 2.5 (Tue), lowest 1.5 (Mon)" in text_of(events)
    assert isinstance(events[-1], CitationCollection)
    assert "First row: day Mon" in text_of(with_data("What moved?", '[{"day": "Mon"}]'))


def test_text_of_the_context_is_quoted():
    events = answered("q", context=(ContextItem(name="Note", data=data("Rates fell.")),))
    assert text_of(events).endswith("**Note:** Rates fell.")


def test_table_is_made_of_the_rows_when_the_question_names_one():
    (artifact,) = artifacts_in(with_data("Make a table", json.dumps(ROWS)))
    assert artifact.type is ArtifactType.TABLE
    assert artifact.content == [{**ROWS[0], "notes": '{"a": [1]}'}, ROWS[1]]


@pytest.mark.parametrize(
    ("question", "params"),
    [
        ("a chart", {"chartType": "bar", "xKey": "day", "yKey": ["close", "volume"]}),
        ("a LINE chart", {"chartType": "line", "xKey": "day", "yKey": ["close", "volume"]}),
        ("a scatter chart", {"chartType": "scatter", "xKey": "close", "yKey": ["volume"]}),
        ("a pie chart", {"chartType": "pie", "angleKey": "close", "calloutLabelKey": "day"}),
    ],
)
def test_chart_of_the_asked_kind_is_drawn(question, params):
    (artifact,) = artifacts_in(with_data(question, json.dumps(ROWS)))
    assert artifact.chart_params == params


@pytest.mark.parametrize("body", ["no rows", '["a", 1]', "[]"])
def test_data_that_is_no_table_is_quoted_and_not_drawn(body):
    events = with_data("table and chart", body)
    assert artifacts_in(events) == []
    assert f"**Prices 1:** {body}" in text_of(events)


def moved(question, *messages, **properties):
    """Return the tool call of the next message, else its text."""
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    names = ("calculator", "word_count")
    tools = tuple(ToolSchema(name=one, description="", parameters=parameters) for one in names)
    user = ModelMessage(role=ModelRole.USER, text=question)
    moves = list(next_moves(ModelCall(model="demo", messages=(user, *messages), tools=tools)))
    calls = [move for move in moves if isinstance(move, ToolCall)]
    return calls[0] if calls else "".join(getattr(move, "text", "") for move in moves)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Calculator: 200 + 10%", "200 + 10%"),
        ("Please ask the word count :  one\ntwo", "one\ntwo"),
        ("What would the calculator say?", "What would the calculator say?"),
    ],
)
def test_a_tool_that_is_named_gets_the_text_behind_its_name_and_plausible_values(question, said):
    move = moved(
        question,
        query={"type": "string"},
        top_k={"type": "integer"},
        filters={"type": ["object", "null"]},
        mode={"enum": ["fast", "slow"]},
    )
    expected = {"query": said, "top_k": 1, "filters": said, "mode": "fast"}
    assert json.loads(move.arguments) == expected


def test_tool_is_called_once_and_not_when_the_question_does_not_name_it():
    assert isinstance(moved("Hello"), str)
    move = moved("calculator")
    said = ModelMessage(role=ModelRole.ASSISTANT, text="", tool_calls=(move,))
    result = ModelMessage(role=ModelRole.TOOL, text="echoed", tool_call_id=move.id)
    assert moved("calculator", said, result).endswith("A tool returned: echoed")
