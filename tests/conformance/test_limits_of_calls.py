"""How often one question may call Workspace: each function by itself, all together, as set."""

from typing import Any

import pytest

from protocol.models import Generation
from tests.conformance.strangers import NEWS, import_template
from tests.conformance.test_client import HIT, TOOL
from tests.conformance.test_dashboard import DONE
from tests.conformance.test_generations import BOTH
from tests.conformance.test_widgets import on_dashboard
from tests.workspace.client import Event, named, text_of
from tests.workspace.model_server import Reply, calls, says

pytestmark = pytest.mark.django_db(transaction=True)

SEARCH = "Tool1_function_one"
ON = {"generative-ui": True}
NOTE = ("add_generative_widget", {"widget_type": "note", "name": "N", "data": "Hello"})


def functions_called(legs: list[list[Event]]) -> list[str]:
    return [call["function"] for leg in legs for call in named(leg, "copilotFunctionCall")]


def warnings_in(legs: list[list[Event]]) -> list[str]:
    return [step["message"] for leg in legs for step in named(leg, "copilotStatusUpdate")]


def test_the_limit_of_a_function_leaves_the_others_alone(chat_with, model):
    limits = [{"function": "execute_agent_tool", "most": 2}]
    stranger = chat_with(
        "dashboard-explorer", *[calls(SEARCH, q="again")] * 3, Reply(calls=(NOTE,)), says("Noted."),
        client_call_limits=limits,
        features={"mcp-tools": True, "generative-ui": True, "widget-dashboard-search": True},
    )  # fmt: skip
    legs = stranger.asks(
        "Find it and note it.",
        functions={**HIT, "add_generative_widget": lambda _: DONE},
        tools=[TOOL],
        **on_dashboard(workspace_options=ON),
    )
    assert functions_called(legs) == [*["execute_agent_tool"] * 2, "add_generative_widget"]
    sentence = (
        "Tools were already called 2 times for this question, so no more tools are called. Ask "
        "again to go on."
    )
    *_, third, answer = legs
    assert [name for name, _ in third] == ["copilotStatusUpdate", "copilotFunctionCall"]
    assert warnings_in(legs) == [sentence]
    assert text_of(answer) == "Noted."
    assert model.told(3).endswith(f"{sentence} Answer with what you have.")
    assert SEARCH not in model.tools(3)
    assert "add_generative_widget" in model.tools(3)


def offered(count: int) -> list[dict[str, Any]]:
    """Widgets that older clients can tell apart."""
    return [
        {**NEWS, "uuid": f"{number:08d}-7b4d-451c-adc5-49856e90a0e6", "widget_id": f"w{number}"}
        for number in range(count)
    ]


DATA = (
    "The dashboard was already asked for data {} for this question, so this answer uses what there"
)


@BOTH
@pytest.mark.parametrize(("most", "words"), [(1, "once"), (2, "2 times")])
def test_the_limit_for_data_holds_for_older_clients(most, words, generation, old, model):
    shown = offered(3)
    ask = [calls("get_widget_data", widgets=[{"id": one["uuid"]}]) for one in shown[: most + 1]]
    chat = old("dashboard-explorer", generation, *ask, says("So far."), widgets=shown)
    limits = [{"function": "get_widget_data", "most": most}]
    import_template("dashboard-explorer", model, client_call_limits=limits)
    *asking, answer = chat.ask("Compare them.")
    assert functions_called(asking) == ["get_widget_data"] * most
    sentence = DATA.format(words)
    assert text_of(answer).startswith(sentence)
    assert text_of(answer).split("\n\n")[1] == "So far."
    assert [one.startswith(sentence) for one in warnings_in([answer])] == (
        [] if generation is Generation.ONE else [True]
    )
    assert "tools" not in model.requests[-1]


def test_a_refusal_is_said_even_where_the_model_says_nothing_more(chat_with, model):
    limits = [{"function": "execute_agent_tool", "most": 1}]
    stranger = chat_with(
        "dashboard-explorer", calls(SEARCH, q="x"), calls(SEARCH, q="y"), says(""),
        client_call_limits=limits,
        features={"mcp-tools": True, "generative-ui": True, "widget-dashboard-search": True},
    )  # fmt: skip
    _, answer = stranger.asks(
        "Find it.", functions=HIT, tools=[TOOL], **on_dashboard(workspace_options=ON)
    )
    refused, empty = warnings_in([answer])
    assert refused.startswith("Tools were already called once")
    assert text_of(answer) == f"{refused}\n\n{empty}"
