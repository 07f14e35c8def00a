"""What copilots show, as the package of OpenBB would send it, and what a client brings back."""

import json
from typing import Any

from openbb_ai import chart, table
import pytest

from copilot_admin.models import Node
from tests.conformance.strangers import NEWS, widgets
from tests.conformance.test_widgets import on_dashboard
from tests.workspace.client import named, text_of
from tests.workspace.model_server import Reply, calls, says

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
    warning = {"eventType": "WARNING", "message": CUT, "group": "reasoning"}
    answer = {"delta": "It rose."}
    assert events == [("copilotStatusUpdate", warning), ("copilotMessageChunk", answer)]
    assert "[85 of 100 rows left out: too much data]" in model.told()
    [later] = stranger.asks("Really?")
    assert later == [("copilotMessageChunk", {"delta": "It did."})]


# The rows and keys with which the example of OpenBB draws its five charts.
POINTS = [{"x": 0, "y": 1}, {"x": 1, "y": 2}, {"x": 2, "y": 3}, {"x": 3, "y": 5}]
SLICES = [{"value": 0, "label": "A"}, {"value": 1, "label": "B"}, {"value": 2, "label": "C"}]
AXES = {"rows": POINTS, "x": "x", "y": ["y"]}
ROUND = {"rows": SLICES, "x": "label", "y": ["value"]}


# A card in the style of the example of OpenBB: white letters, readable only before its colours.
CARD = (
    '<div style="padding: 24px; background: linear-gradient(135deg, #667eea 0%, #764ba2 100%); '
    'color: white;"><div style="display: grid; grid-template-columns: 1fr 1fr;">AAPL</div></div>'
)


def expected(made: Any) -> dict[str, Any]:
    """The artifact that the package of OpenBB makes, without what differs each time."""
    data = made.data.model_dump(exclude_none=True, mode="json")
    return {key: one for key, one in data.items() if key not in ("uuid", "name")}


def shown(artifact: dict[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in artifact.items() if key not in ("uuid", "name")}


@pytest.mark.parametrize("kind", ["line", "bar", "scatter", "pie", "donut"])
def test_a_chart_is_what_the_package_of_openbb_would_send(kind, chat_with):
    round_one = kind in ("pie", "donut")
    drawn = ROUND if round_one else AXES
    wish = calls("chart", name="Mine", description="Of the data.", type=kind, **drawn)
    stranger = chat_with("charts", wish, says("Here it is."))
    [events] = stranger.asks("Draw it.")
    keys: dict[str, Any] = (
        {"angle_key": "value", "callout_label_key": "label"}
        if round_one
        else {"x_key": "x", "y_keys": ["y"]}
    )
    data = SLICES if round_one else POINTS
    theirs = chart(type=kind, data=data, name="Mine", description="Of the data.", **keys)  # type: ignore[arg-type]
    [artifact] = named(events, "copilotMessageArtifact")
    assert shown(artifact) == expected(theirs)
    assert artifact["name"] == "Mine"
    assert [name for name, _ in events] == ["copilotMessageArtifact", "copilotMessageChunk"]
    assert text_of(events) == "Here it is."


def test_a_table_is_what_the_package_of_openbb_would_send(chat_with):
    rows = [{"x": 0, "y": 1, "z": 2}, {"x": 1, "y": 2, "z": 3}]
    wish = Reply(
        words=("Here is an example table:",),
        calls=(("table", {"name": "My Table", "description": "Data.", "rows": rows}),),
    )
    stranger = chat_with("tables", wish, says("That was it."))
    [events] = stranger.asks("As a table.")
    [artifact] = named(events, "copilotMessageArtifact")
    theirs = table(data=rows, name="My Table", description="Data.")
    assert shown(artifact) == expected(theirs)
    assert list(artifact["content"][0]) == ["x", "y", "z"]
    (
        stranger.response()
        .starts("copilotMessage")
        .with_("Here is an example table:")
        .then("copilotMessageArtifact")
        .with_({"type": "table", "content": rows})
        .then("copilotMessage")
        .with_("That was it.")
    )


def test_html_keeps_inline_styles_and_loses_what_workspace_would_drop(chat_with):
    html = (
        f"{CARD}<table><tr><td>5</td></tr></table>"
        '<script>steal()</script><iframe src="https://example.org"></iframe>'
        '<img src="x" onerror="steal()">'
    )
    wish = calls("html", name="Card", description="A card.", html=html)
    stranger = chat_with("html-cards", wish, says("One figure."))
    [events] = stranger.asks("As cards.")
    [artifact] = named(events, "copilotMessageArtifact")
    assert artifact["type"] == "html"
    assert artifact["description"] == "A card."
    assert artifact["uuid"]
    assert artifact["content"].startswith(f'<div style="height:100%;overflow:auto">{CARD}')
    assert "<td>5</td>" in artifact["content"]
    for gone in ("script", "iframe", "onerror", "steal"):
        assert gone not in artifact["content"]
    assert text_of(events) == "One figure."
