"""What a client brings back, member by member: nothing of it is dropped, in any generation."""

import json
from typing import Any

import pytest

from copilot_admin.models import Node
from tests.conformance.strangers import NEWS, widgets
from tests.conformance.test_widgets import on_dashboard
from tests.workspace.client import named
from tests.workspace.model_server import calls, says

pytestmark = pytest.mark.django_db(transaction=True)

NEW = "5f6c2a34-7d0e-4d0f-9f0a-0b2f6f7c1d11"
ADDED = {"status": "success", "message": "Added.", "widget_uuid": NEW}


def test_the_model_learns_the_uuid_of_the_widget_that_it_added(chat_with, model):
    note = {"widget_type": "note", "name": "Three", "data": "1, 2, 3"}
    stranger = chat_with(
        "dashboard-explorer", calls("add_generative_widget", **note), says("It is there.")
    )
    stranger.asks(
        "Note it.",
        functions={"add_generative_widget": lambda _: [ADDED]},
        **on_dashboard(workspace_options={"generative-ui": True}),
    )
    assert model.requests[1]["messages"][-1]["content"] == (
        f'<data source="add_generative_widget">\n(success) Added. {{"widget_uuid": "{NEW}"}}\n</data>'
    )
    assert json.loads(Node.objects.get(role="tool").text)["data"] == [{**ADDED, "data": {}}]


CITATION = {
    "id": "6a097e6b-1d8c-4647-9863-57b23b1e8ad4",
    "source_info": {"type": "web", "name": "Minutes", "metadata": {"url": "https://bank.example"}},
    "details": [{"Page": 2}],
}


def test_what_the_data_of_a_widget_cites_is_cited_too(chat_with):
    stranger = chat_with("widget-citations", says("It rose."))
    cited = [{"items": [{"content": "[1]"}], "extra_citations": [CITATION, {"id": "broken"}]}]
    *_, events = stranger.asks(
        "What moved?", functions={"get_widget_data": lambda _: cited}, **widgets(NEWS)
    )
    [own, theirs] = named(events, "copilotCitationCollection")[0]["citations"]
    assert own["source_info"]["widget_id"] == "company_news"
    assert theirs == {
        **CITATION,
        "source_info": {**CITATION["source_info"], "citable": True},  # type: ignore[dict-item]
    }


def artifact(type: str, content: Any, **form: Any) -> dict[str, Any]:
    """An artifact of the chat as Workspace sends it along."""
    form = {"data_type": "object", "parse_as": type, **form}
    item = {"content": json.dumps(content), "data_format": form}
    return {"uuid": NEW, "name": f"My {type}", "description": "", "data": {"items": [item]}}


QUERY = {"origin": "Snowflake", "id": "sales", "widget_uuid": NEW}
CHART = {"chartType": "line", "xKey": "day", "yKey": ["price"]}
ROWS = [{"day": "Mon", "price": 1.5}]


def test_artifacts_of_every_type_are_known_to_the_model_as_what_they_are(chat_with, model):
    stranger = chat_with("prompt-optimizer", says("Yes."))
    stranger.asks(
        "Explain them.",
        context=[
            artifact("text", "Rates rose.\nMuch."),
            artifact("chart", ROWS, chart_params=CHART),
            artifact("snowflake_query", "SELECT 1", query_data_source=QUERY),
            artifact("snowflake_python", "a = 1"),
        ],
    )
    assert model.requests[0]["messages"][-1]["content"] == (
        "Explain them.\n\n"
        '<data source="My text">\nRates rose.\nMuch.\n</data>\n\n'
        f'<data source="My chart">\n[a chart, drawn with {json.dumps(CHART)}]\n'
        f"{json.dumps(ROWS)}\n</data>\n\n"
        '<data source="My snowflake_query">\n'
        f"[a Snowflake query, asked of {json.dumps(QUERY)}]\nSELECT 1\n</data>\n\n"
        '<data source="My snowflake_python">\n[Python code for Snowflake]\na = 1\n</data>'
    )


MANY = [{"day": number, "price": 1.5} for number in range(100)]
CUT = (
    "Not all data fits: of 'Company News' the model is given 15 of 100 rows. Ask about less to have "
    "all of it."
)


def test_rows_that_did_not_fit_are_told_to_the_user_once(chat_with, model):
    stranger = chat_with("widget-reader", says("It rose."), says("It did."), max_data_tokens=100)
    given = [{"items": [{"content": json.dumps(MANY)}]}]
    _, events = stranger.asks(
        "What moved?", functions={"get_widget_data": lambda _: given}, **widgets(NEWS)
    )
    assert events == [
        (
            "copilotStatusUpdate",
            {"eventType": "WARNING", "message": CUT, "group": "reasoning"},
        ),
        ("copilotMessageChunk", {"delta": "It rose."}),
    ]
    assert "[85 of 100 rows left out: too much data]" in model.told()
    [later] = stranger.asks("Really?")
    assert later == [("copilotMessageChunk", {"delta": "It did."})]
