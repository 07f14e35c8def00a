"""A copilot with data notes and three components: what the model received, what the client did."""

import json
from typing import Any

from django.test import AsyncClient
import pytest

from copilot_admin.agent.values.model_call import ModelMessage, ModelRole
from copilot_admin.models import Event, EventType, Run
from tests.agent.scripted import Step, call, text
from tests.api.test_query import script
from tests.factories import make_published
from tests.streams import read

pytestmark = pytest.mark.django_db(transaction=True)

ROWS = [
    {"sector": "Tech", "pnl": 10.5},
    {"sector": "Energy", "pnl": -2.0},
    {"sector": "Tech", "pnl": 4.5},
]
BY_SECTOR = {"op": "group", "by": "sector", "aggregate": {"pnl": "sum"}}
SUMS = [{"sector": "Tech", "pnl_sum": 15.0}, {"sector": "Energy", "pnl_sum": -2.0}]
ANALYSED = (
    "2 rows with the columns: sector, pnl_sum.\n"
    '{"sector": "Tech", "pnl_sum": 15.0}\n'
    '{"sector": "Energy", "pnl_sum": -2.0}'
)
DRAWN = "The user now sees a bar chart of pnl_sum by sector with 2 points."
CHART = {"rows": SUMS, "type": "bar", "x": "sector", "y": ["pnl_sum"]}
SCRIPT = (
    call("calculator", expression="200 + 10%"),
    call("table_analyst", call_id="call-2", rows=ROWS, operations=[BY_SECTOR]),
    call("chart_maker", call_id="call-3", **CHART),
    text("Tech earned 15."),
)
NOTE = '## Data: ¶house-rules\n{\n  "places": 2,\n  "currency": "EUR"\n}\nHow we round.'


@pytest.fixture
def desk() -> None:
    make_published(
        slug="desk",
        system_prompt="You are a desk.",
        components=[
            {"name": "calculator", "version": "v1"},
            {"name": "table_analyst", "version": "v1"},
            {"name": "chart_maker", "version": "latest"},
        ],
        data_notes=[
            {"kind": "house-rules", "description": "How we round.", "data": {"places": 2}},
            {"kind": "house-rules", "data": {"currency": "EUR"}},
        ],
    )


def asked() -> list[tuple[str, Any]]:
    question = {"messages": [{"role": "human", "content": "How did sectors do?"}]}
    return read(AsyncClient(), "/v1/copilots/desk/query", question)


def step(message: str, **details: str) -> tuple[str, Any]:
    payload = {"eventType": "INFO", "message": message, "group": "reasoning"}
    return "copilotStatusUpdate", {**payload, "details": [details]}


def artifact(made: Any, name: str, description: str, **more: Any) -> tuple[str, Any]:
    """The artifact as it should be; its id is the only thing that chance decides."""
    id = made["uuid"]
    payload = {"uuid": id, "name": name, "description": description, "content": SUMS}
    return "copilotMessageArtifact", {**payload, **more}


def test_the_model_receives_notes_merged_and_each_result(monkeypatch, desk):
    provider = script(monkeypatch, *SCRIPT)
    asked()
    assert [tool.name for tool in provider.calls[0].tools] == [
        "calculator",
        "table_analyst",
        "chart_maker",
    ]
    assert list(provider.calls[-1].messages) == [
        ModelMessage(role=ModelRole.SYSTEM, text="You are a desk."),
        ModelMessage(role=ModelRole.USER, text=NOTE),
        ModelMessage(role=ModelRole.USER, text="How did sectors do?"),
        *exchange(SCRIPT[0], "220"),
        *exchange(SCRIPT[1], ANALYSED),
        *exchange(SCRIPT[2], DRAWN),
    ]


def exchange(called: Step, result: str) -> tuple[ModelMessage, ModelMessage]:
    wanted: Any = called.actions[0]
    return (
        ModelMessage(role=ModelRole.ASSISTANT, text="", tool_calls=(wanted,)),
        ModelMessage(role=ModelRole.TOOL, text=result, tool_call_id=wanted.id),
    )


def test_the_client_receives_steps_a_table_a_chart_and_the_words(monkeypatch, desk):
    script(monkeypatch, *SCRIPT)
    events = asked()
    table, chart = (data for name, data in events if name == "copilotMessageArtifact")
    assert events == [
        step("Running Calculator", Expression="200 + 10%"),
        step("Calculator gave a result", Result="220"),
        step("Running Table analyst", Rows=json.dumps(ROWS), Operations=json.dumps([BY_SECTOR])),
        artifact(
            table,
            "Result",
            "Filters, groups, aggregates and orders rows that are given as JSON or CSV.",
            type="table",
        ),
        step("Table analyst gave a result", Result=ANALYSED),
        step(
            "Running Chart maker",
            Rows=json.dumps(SUMS),
            Type="bar",
            X="sector",
            Y='["pnl_sum"]',
        ),
        artifact(
            chart,
            "pnl_sum by sector",
            "Draws rows as a line, bar, scatter, pie or donut chart.",
            type="chart",
            chart_params={"chartType": "bar", "xKey": "sector", "yKey": ["pnl_sum"]},
        ),
        step("Chart maker gave a result", Result=DRAWN),
        ("copilotMessageChunk", {"delta": "Tech earned 15."}),
    ]


def test_the_transcript_has_the_calls_and_the_data_that_the_model_saw(monkeypatch, desk):
    script(monkeypatch, *SCRIPT)
    asked()
    run = Run.objects.get()
    events = Event.objects.filter(run=run).order_by("ord")
    called = [event.payload for event in events if event.type == EventType.COMPONENT]
    assert [(one["name"], one["version"], one["result"]) for one in called] == [
        ("calculator", "v1", "220"),
        ("table_analyst", "v1", ANALYSED),
        ("chart_maker", "v1", DRAWN),
    ]
    assert [event.payload for event in events if event.type == EventType.DATA] == [{"text": NOTE}]
