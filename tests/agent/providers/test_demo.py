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

ROWS = [{"day": "Mon", "close": 1.5, "notes": {"a": [1]}}, {"day": "Tue", "close": 2.5}]
DEMO = DemoModel(ProviderSpec(name="built in", kind="demo"))
SPEC = make_spec(system_prompt="You are {{ copilot.name }}.\nBe kind.", tools=("table", "chart"))


def answered(query, *, spec=SPEC):
    return events_of(make_request(DEMO, query=query, spec=spec))


def text_of(events):
    return "".join(event.delta for event in events if isinstance(event, MessageChunk))


def with_rows(question, rows=ROWS):
    widget = make_widget()
    return make_query(
        HumanMessage(question),
        *fetched_pair([widget], data(json.dumps(rows))),
        widgets=Widgets(primary=(widget,)),
    )


@pytest.mark.parametrize(
    ("question", "artifacts"),
    [
        ("What should I know before the open?", [ArtifactType.CHART]),
        ("Show the ten largest positions as a table.", [ArtifactType.TABLE]),
        ("Draw the closing prices as a line chart.", [ArtifactType.CHART]),
        ("Which positions helped most, and which hurt?", [ArtifactType.CHART, ArtifactType.TABLE]),
    ],
)
def test_sample_question_gets_a_labelled_answer_with_artifacts_and_sources(question, artifacts):
    events = answered(make_query(HumanMessage(question)))
    assert text_of(events).startswith(LABEL)
    shown = [event.type for event in events if isinstance(event, MessageArtifact)]
    assert shown == artifacts
    (sources,) = (event for event in events if isinstance(event, CitationCollection))
    assert all(one.source_info["type"] == "direct retrieval" for one in sources.citations)
    assert len(events) > 10


@pytest.mark.parametrize("question", ["What  moved?", "Hello", "What is the weather like?"])
def test_question_without_a_prepared_answer_gets_questions_that_have_one(question):
    text = text_of(answered(make_query(HumanMessage(question))))
    assert text.startswith(NO_ANSWER)
    offered = [line[2:] for line in text.splitlines() if line.startswith("- ")]
    assert offered
    for line in offered:
        assert LABEL in text_of(answered(make_query(HumanMessage(line))))


@pytest.mark.parametrize("answer", DEMO_ANSWERS, ids=lambda answer: answer.opening[:20])
def test_each_follow_up_has_a_prepared_answer(answer):
    for question in answer.follow_ups:
        assert LABEL in text_of(answered(make_query(HumanMessage(question))))


@pytest.mark.parametrize(
    ("question", "asked"), [("What moved?", (1, 2)), ("And prices 3?", (3,)), ("Prices 1", (1,))]
)
def test_data_is_asked_for_by_name_or_as_selected(question, asked):
    widgets = Widgets(primary=(make_widget(1), make_widget(2)), secondary=(make_widget(3),))
    (event,) = answered(make_query(HumanMessage(question), widgets=widgets))
    assert isinstance(event, FunctionCall)
    assert event.input_arguments == asked_arguments(*map(make_widget, asked))


def test_no_data_is_asked_for_when_the_copilot_may_not():
    spec = make_spec(widget_data=WidgetDataMode.OFF)
    events = answered(make_query(widgets=Widgets(primary=(make_widget(),))), spec=spec)
    assert {type(event) for event in events} == {MessageChunk}


SKILLS = ({"slug": "memo", "description": "Writes."}, {"slug": "house-style", "description": "How"})


@pytest.mark.parametrize(
    ("question", "slug"),
    [("Write it in House style", "house-style"), ("Use a skill", "memo"), ("memo: x", "memo")],
)
def test_a_skill_is_loaded_by_name_before_anything_else(question, slug):
    widgets = Widgets(primary=(make_widget(),))
    (event,) = answered(make_query(HumanMessage(question), skills_catalog=SKILLS, widgets=widgets))
    assert isinstance(event, FunctionCall)
    assert (event.function, event.input_arguments) == ("get_skill_content", {"slug": slug})


def test_data_is_described_and_cited():
    events = answered(with_rows("What moved?"))
    text = text_of(events)
    assert text.startswith(DATA_LABEL)
    assert "**close:** highest 2.5 (Tue), lowest 1.5 (Mon)" in text
    assert isinstance(events[-1], CitationCollection)


def test_text_and_context_are_quoted_too():
    query = make_query(context=(ContextItem(name="Note", data=data("Rates fell.")),))
    assert text_of(answered(query)).endswith("**Note:** Rates fell.")


def test_table_is_made_of_the_rows_when_the_question_names_one():
    events = answered(with_rows("Make a table"))
    (artifact,) = (event for event in events if isinstance(event, MessageArtifact))
    assert (artifact.type, artifact.content) == (
        ArtifactType.TABLE,
        [{"day": "Mon", "close": 1.5, "notes": '{"a": [1]}'}, {"day": "Tue", "close": 2.5}],
    )


@pytest.mark.parametrize(
    ("question", "params"),
    [
        ("a chart", {"chartType": "bar", "xKey": "day", "yKey": ["close", "volume"]}),
        ("a LINE chart", {"chartType": "line", "xKey": "day", "yKey": ["close", "volume"]}),
        ("a scatter chart", {"chartType": "scatter", "xKey": "close", "yKey": ["volume"]}),
        ("a pie chart", {"chartType": "pie", "angleKey": "close", "calloutLabelKey": "day"}),
        ("a donut chart", {"chartType": "donut", "angleKey": "close", "calloutLabelKey": "day"}),
    ],
)
def test_chart_of_the_asked_kind_is_drawn(question, params):
    rows = [{"day": "Mon", "close": 1.5, "volume": 3}, {"day": "Tue", "close": 2.5, "volume": 4}]
    events = answered(with_rows(question, rows))
    (artifact,) = (event for event in events if isinstance(event, MessageArtifact))
    assert artifact.chart_params == params


@pytest.mark.parametrize("body", ["no rows", '["a", 1]', "[]", '{"a": 1}', "[" * 9000])
def test_data_that_is_no_table_is_quoted_and_not_drawn(body):
    widget = make_widget()
    query = make_query(
        HumanMessage("table and chart"),
        *fetched_pair([widget], data(body)),
        widgets=Widgets(primary=(widget,)),
    )
    events = answered(query)
    assert not any(isinstance(event, MessageArtifact) for event in events)
    assert f"**Prices 1:** {body[:300]}" in text_of(events)


def schema(**properties):
    return {"type": "object", "properties": properties, "required": list(properties)}


def moved(question, *tools, messages=()):
    """Return the tool call of the next message, else its text."""
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
def test_a_tool_is_told_what_follows_its_name(question, said):
    tools = [
        ToolSchema(name=name, description="", parameters=schema(text={"type": "string"}))
        for name in ("calculator", "word_count")
    ]
    move = moved(question, *tools)
    assert isinstance(move, ToolCall)
    assert json.loads(move.arguments) == {"text": said}


def test_other_tool_named_in_the_question_is_called_with_plausible_arguments():
    parameters = schema(
        query={"type": "string"},
        top_k={"type": "integer"},
        exact={"type": "boolean"},
        tags={"type": "array"},
        filters={"type": "object"},
        mode={"enum": ["fast", "slow"]},
    )
    tool = ToolSchema(name="document_search", description="", parameters=parameters)
    move = moved("Use document_search", tool)
    assert isinstance(move, ToolCall)
    assert json.loads(move.arguments) == {
        "query": "Use document_search",
        "top_k": 1,
        "exact": True,
        "tags": [],
        "filters": {},
        "mode": "fast",
    }


def test_tool_is_called_once_and_not_when_the_question_does_not_name_it():
    tool = ToolSchema(name="echo", description="", parameters={"type": "object"})
    assert isinstance(moved("Hello", tool), str)
    move = moved("echo", tool)
    assert isinstance(move, ToolCall)
    assert move.arguments == "{}"
    said = ModelMessage(role=ModelRole.ASSISTANT, text="", tool_calls=(move,))
    result = ModelMessage(role=ModelRole.TOOL, text="echoed", tool_call_id=move.id)
    answer = moved("echo", tool, messages=(said, result))
    assert isinstance(answer, str)
    assert answer.endswith("A tool returned: echoed")
