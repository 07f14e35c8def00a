"""How often one question may call Workspace: each function by itself, all together, as set."""

from typing import Any

import pytest

from protocol.models import Generation
from tests.conformance.strangers import (
    NEWS,
    NEWS_SOURCE,
    Stranger,
    content,
    import_template,
)
from tests.conformance.test_client import CATALOG, HIT, TOOL
from tests.conformance.test_dashboard import DONE
from tests.conformance.test_generations import BOTH, old
from tests.conformance.test_widgets import on_dashboard
from tests.workspace.client import Event, named, text_of
from tests.workspace.model_server import ModelServer, Reply, calls, says

__all__ = ["old"]
pytestmark = pytest.mark.django_db(transaction=True)

SEARCH = "Tool1_function_one"
ON = {"generative-ui": True}
NOTE = ("add_generative_widget", {"widget_type": "note", "name": "N", "data": "Hello"})


def functions_called(legs: list[list[Event]]) -> list[str]:
    return [call["function"] for leg in legs for call in named(leg, "copilotFunctionCall")]


def warnings_in(legs: list[list[Event]]) -> list[str]:
    return [step["message"] for leg in legs for step in named(leg, "copilotStatusUpdate")]


def stranger_with(
    slug: str, *replies: Reply, service: str, model: ModelServer, **changes: Any
) -> Stranger:
    """A chat with a template whose builder has set something else."""
    stranger = Stranger(slug, *replies, service=service, model=model)
    import_template(slug, model, **changes)
    return stranger


def test_the_limit_of_a_function_leaves_the_others_alone(service_url, model):
    limits = [{"function": "execute_agent_tool", "most": 2}]
    stranger = stranger_with(
        "dashboard-explorer", *[calls(SEARCH, q="again")] * 3, Reply(calls=(NOTE,)), says("Noted."),
        service=service_url, model=model, client_call_limits=limits,
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


def test_a_new_question_begins_anew(service_url, model):
    search = calls(SEARCH, q="x")
    stranger = stranger_with(
        "mcp-tools", search, says("One."), search, says("Two."),
        service=service_url, model=model, max_client_calls=1,
    )  # fmt: skip
    for answer in ("One.", "Two."):
        legs = stranger.asks("Find it.", functions=HIT, tools=[TOOL])
        assert functions_called(legs) == ["execute_agent_tool"]
        assert text_of(legs[-1]) == answer


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


def test_six_different_functions_of_one_answer_are_all_called(service_url, model):
    six = (
        ("get_widget_data", {"widgets": [{"id": NEWS["uuid"]}]}),
        NOTE,
        (SEARCH, {"q": "a"}),
        ("manage_navigation_bar", {"operation": "add_tabs", "tabs": [{"name": "Rates"}]}),
        ("update_widget_in_dashboard", {"data_sources": [NEWS_SOURCE]}),
        ("save_skill", {"name": "Mine", "instructions": "Do it."}),
    )
    names = [name if name != SEARCH else "execute_agent_tool" for name, _ in six]
    limits = [{"function": name, "most": 1} for name in names if name != "get_widget_data"]
    stranger = stranger_with(
        "dashboard-explorer", Reply(calls=six), says("Six."), service=service_url, model=model,
        client_call_limits=[*limits, {"function": "get_widget_data", "most": 1}],
        features={"mcp-tools": True, "generative-ui": True, "widget-dashboard-search": True},
    )  # fmt: skip
    functions = {name: lambda _: DONE for name in names}
    legs = stranger.asks(
        "Do all.",
        functions={**functions, **HIT, "get_widget_data": content("[1]")},
        tools=[TOOL],
        skills_catalog=CATALOG,
        **on_dashboard(workspace_options=ON),
    )
    assert sorted(functions_called(legs)) == sorted(names)
    assert (text_of(legs[-1]), warnings_in(legs)) == ("Six.", [])
    assert len(model.requests) == 2


def test_a_refusal_is_said_even_where_the_model_says_nothing_more(service_url, model):
    limits = [{"function": "execute_agent_tool", "most": 1}]
    stranger = stranger_with(
        "dashboard-explorer", calls(SEARCH, q="x"), calls(SEARCH, q="y"), says(""),
        service=service_url, model=model, client_call_limits=limits,
        features={"mcp-tools": True, "generative-ui": True, "widget-dashboard-search": True},
    )  # fmt: skip
    _, answer = stranger.asks(
        "Find it.", functions=HIT, tools=[TOOL], **on_dashboard(workspace_options=ON)
    )
    refused, empty = warnings_in([answer])
    assert refused.startswith("Tools were already called once")
    assert text_of(answer) == f"{refused}\n\n{empty}"
