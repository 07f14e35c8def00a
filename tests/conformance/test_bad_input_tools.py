"""Bad calls, bad options and things that vanished, over HTTP: clear words, and nothing lost."""

import json
from typing import Any

import pytest

from copilot_admin.models import Outcome, Run
from tests.conformance.strangers import Stranger
from tests.conformance.test_bad_input_data import journaled
from tests.conformance.test_client import CATALOG, HIT, TOOL
from tests.workspace.client import named, text_of
from tests.workspace.model_server import Reply, calls, says

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
def test_a_chart_that_cannot_be_drawn_is_repaired_by_the_model(wrong, told, service_url, model):
    stranger = Stranger(
        "charts", calls("chart", **{**CHART, **wrong}), calls("chart", **CHART), says("It rose."),
        service=service_url, model=model,
    )  # fmt: skip
    [events] = stranger.asks("Draw it.")
    assert answered(model, 1).startswith(told)
    assert [name for name, _ in events] == ["copilotMessageArtifact", "copilotMessageChunk"]
    assert named(events, "copilotStatusUpdate") == []
    journaled(Outcome.COMPLETED)


@pytest.mark.parametrize("arguments", ['{"name": "P", "rows": [', "[1]", "", '"text"'])
def test_arguments_that_are_no_object_are_told_once_and_then_explained(
    arguments, service_url, model
):
    broken = Reply(calls=(("chart", arguments),))
    stranger = Stranger("charts", broken, broken, says("Sorry."), service=service_url, model=model)
    [events] = stranger.asks("Draw it.")
    assert answered(model, 1).startswith("Wrong arguments for the tool 'chart': ")
    [warning] = named(events, "copilotStatusUpdate")
    assert warning["message"].startswith(
        "The model used its tools wrongly more than once, so it answers without them."
    )
    assert text_of(events).endswith("Sorry.")
    assert "tools" not in model.requests[2]
    journaled(Outcome.COMPLETED)


def test_a_tool_that_there_is_not_is_told_with_those_there_are(service_url, model):
    stranger = Stranger(
        "charts", calls("telepathy"), says("I cannot."), service=service_url, model=model
    )
    stranger.asks("Read my mind.")
    assert answered(model) == "There is no tool called 'telepathy'. Tools: chart."


def test_a_model_that_calls_tools_without_end_is_stopped(service_url, model):
    rounds = [calls("chart", **CHART)] * 7
    stranger = Stranger("charts", *rounds, says("Enough."), service=service_url, model=model)
    [events] = stranger.asks("Draw it, and again, and again.")
    assert len(named(events, "copilotMessageArtifact")) == 7
    assert "tools" not in model.requests[7]
    assert text_of(events) == "Enough."


def test_an_mcp_tool_that_vanished_is_told_with_those_there_are(service_url, model):
    stranger = Stranger(
        "mcp-tools", calls("Tool1_function_one", q="a"), calls("Tool1_function_one", q="b"),
        says("It is gone."), service=service_url, model=model,
    )  # fmt: skip
    other = {**TOOL, "name": "other"}

    def vanish(arguments: Any) -> Any:
        stranger.chat.request = {"tools": [other]}
        return HIT["execute_agent_tool"](arguments)

    _, second = stranger.asks(
        "Find it.", functions={"execute_agent_tool": vanish}, tools=[TOOL, other]
    )
    assert "A hit." in model.told(1)
    assert answered(model) == "There is no tool called 'Tool1_function_one'. Tools: other."
    assert text_of(second) == "It is gone."
    journaled(Outcome.COMPLETED, Outcome.COMPLETED)


def test_an_mcp_call_that_fails_is_told_to_the_model_in_its_words(service_url, model):
    stranger = Stranger(
        "mcp-tools", calls("Tool1_function_one", q="a"), says("It is away."),
        service=service_url, model=model,
    )  # fmt: skip
    words = {"error_type": "not_found", "content": "Tool1_function one is not connected."}
    failed = [{"items": [{"content": json.dumps(words)}], "extra_citations": []}]
    _, second = stranger.asks(
        "Find it.", functions={"execute_agent_tool": lambda _: failed}, tools=[TOOL]
    )
    assert "Tool1_function one is not connected." in model.told()
    assert text_of(second) == "It is away."


def test_an_mcp_call_without_what_it_needs_is_repaired(service_url, model):
    stranger = Stranger(
        "mcp-tools", calls("Tool1_function_one"), calls("Tool1_function_one", q="a"), says("There."),
        service=service_url, model=model,
    )  # fmt: skip
    first, _ = stranger.asks("Find it.", functions=HIT, tools=[TOOL])
    assert answered(model, 1) == (
        "Wrong arguments for the tool 'Tool1_function_one': q must be given."
    )
    assert named(first, "copilotFunctionCall")[0]["input_arguments"]["parameters"] == {"q": "a"}


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
    options, states, notes, service_url, model
):
    stranger = Stranger("custom-options", says("Fine."), service=service_url, model=model)
    [events] = stranger.asks("Settings?", workspace_options=options)
    research, tone, view = states
    assert f"Deep Research: {research}\n" in model.system()
    assert f"Tone of the answer: {tone}. House view: {view}." in model.system()
    assert text_of(events) == "Fine."
    assert Run.objects.get().notes == notes


def test_a_skill_that_is_not_in_the_catalog_is_told_with_those_that_are(service_url, model):
    stranger = Stranger(
        "skills", calls("get_skill_content", slug="astrology"), says("There is none."),
        service=service_url, model=model,
    )  # fmt: skip
    [events] = stranger.asks("Use astrology.", skills_catalog=CATALOG)
    assert answered(model) == "There is no skill 'astrology'. The skills: financial-analysis."
    assert text_of(events) == "There is none."
    journaled(Outcome.COMPLETED)


def test_a_skill_that_the_client_no_longer_has_is_told_in_its_words(service_url, model):
    stranger = Stranger(
        "skills", calls("get_skill_content", slug="financial-analysis"), says("It is gone."),
        service=service_url, model=model,
    )  # fmt: skip
    sentence = 'Skill with slug "/financial-analysis" not found in user\'s skill library.'
    gone = [{"status": "error", "message": sentence}]
    _, second = stranger.asks(
        "Use it.", functions={"get_skill_content": lambda _: gone}, skills_catalog=CATALOG
    )
    assert f"(error) {sentence}" in model.told()
    assert text_of(second) == "It is gone."
    journaled(Outcome.COMPLETED, Outcome.COMPLETED)
