"""A stranger's tests of the examples that show something, each against the template of its kind."""

from typing import Any

from openbb_ai import chart, table
import pytest

from tests.workspace.client import named, text_of
from tests.workspace.model_server import Reply, calls, says

pytestmark = pytest.mark.django_db(transaction=True)

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
