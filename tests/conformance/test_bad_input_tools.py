"""Bad calls, bad options and things that vanished, over HTTP: clear words, and nothing lost."""

import json
from typing import Any

import pytest

from copilot_admin.models import Outcome, Run
from tests.conformance.test_bad_input_data import journaled
from tests.conformance.test_client import TOOL
from tests.workspace.client import named, text_of
from tests.workspace.model_server import calls, says

pytestmark = pytest.mark.django_db(transaction=True)

ROWS = [{"day": "Mon", "price": 1.5}]
CHART: dict[str, Any] = {"name": "P", "description": "", "type": "line", "rows": ROWS, "x": "day",
                         "y": ["price"]}  # fmt: skip


def answered(model: Any, number: int = -1) -> str:
    """What the model was told last in a request."""
    return str(model.requests[number]["messages"][-1]["content"])


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"x": "date"}, "The rows have no column 'date'. Their columns: day, price."),
        ({"y": ["volume"]}, "The rows have no column 'volume'. Their columns: day, price."),
        ({"y": ["day"]}, "The column 'day' has text in it; y takes numbers only."),
        (
            {"type": "pie", "y": ["price", "price"]},
            "A pie chart has exactly one column in y, not 2.",
        ),
        (
            {"rows": []},
            "Wrong arguments for the tool 'chart': rows: List should have at least 1 item",
        ),
        ({"type": "radar"}, "Wrong arguments for the tool 'chart': type: Input should be 'line'"),
    ],
    ids=["x", "y", "text", "two angles", "no rows", "kind"],
)
def test_a_chart_that_cannot_be_drawn_is_repaired_by_the_model(wrong, told, chat_with, model):
    stranger = chat_with(
        "charts", calls("chart", **{**CHART, **wrong}), calls("chart", **CHART), says("It rose.")
    )
    [events] = stranger.asks("Draw it.")
    assert answered(model, 1).startswith(told)
    assert [name for name, _ in events] == ["copilotMessageArtifact", "copilotMessageChunk"]
    assert named(events, "copilotStatusUpdate") == []
    journaled(Outcome.COMPLETED)


def test_an_mcp_call_that_fails_is_told_to_the_model_in_its_words(chat_with, model):
    stranger = chat_with("mcp-tools", calls("Tool1_function_one", q="a"), says("It is away."))
    words = {"error_type": "not_found", "content": "Tool1_function one is not connected."}
    failed = [{"items": [{"content": json.dumps(words)}], "extra_citations": []}]
    _, second = stranger.asks(
        "Find it.", functions={"execute_agent_tool": lambda _: failed}, tools=[TOOL]
    )
    assert "Tool1_function one is not connected." in model.told()
    assert text_of(second) == "It is away."


@pytest.mark.parametrize(
    ("options", "states", "notes"),
    [
        (
            {"deep-research": "yes", "tone": "medium", "house-view": True},
            ("❌ Disabled", "short", "unknown"),
            [
                "The client sent 'yes' for the option 'deep-research', which is no value of this "
                "toggle; its default False is used.",
                "The client sent 'medium' for the option 'tone', which is no value of this select; "
                "its default 'short' is used.",
                "The client sent 'True' for the option 'house-view', which is no value of this "
                "text; its default '' is used.",
            ],
        ),
        (
            {"tone": 7},
            ("❌ Disabled", "short", "unknown"),
            ["`workspace_options.tone` is not true or text and was left out."],
        ),
        (
            7,
            ("❌ Disabled", "short", "unknown"),
            ["`workspace_options` is not an object or a list and was left out."],
        ),
    ],
    ids=["wrong values", "a number", "no options"],
)
def test_options_of_a_wrong_type_take_their_defaults_and_the_run_says_so(
    options, states, notes, chat_with, model
):
    stranger = chat_with("custom-options", says("Fine."))
    [events] = stranger.asks("Settings?", workspace_options=options)
    research, tone, view = states
    assert f"Deep Research: {research}\n" in model.system()
    assert f"Tone of the answer: {tone}. House view: {view}." in model.system()
    assert text_of(events) == "Fine."
    assert Run.objects.get().notes == notes
