"""The user's MCP tools keep their identity, also where two are called alike or like one of ours."""

import json
from typing import Any

import pytest

from copilot_admin.models import Run
from protocol.models import Generation
from tests.conformance.strangers import NEWS, QUESTION, asks, import_template, offered
from tests.conformance.test_client import TOOL
from tests.workspace.client import named
from tests.workspace.model_server import ModelServer, calls, says

pytestmark = pytest.mark.django_db(transaction=True)


def tool(name: str, server: str) -> dict[str, Any]:
    return {**TOOL, "name": name, "server_id": server}


def answering(arguments: Any) -> Any:
    """What a server answers, which names it."""
    return [{"items": [{"content": f"from {arguments['server_id']}"}], "extra_citations": []}]


def replayed(model: ModelServer) -> list[tuple[str, str]]:
    """The calls of the history with the name that the model is told, and their results."""
    messages = model.requests[-1]["messages"]
    names = [made["function"]["name"] for one in messages for made in one.get("tool_calls") or []]
    results = [one["content"] for one in messages if one["role"] == "tool"]
    return list(zip(names, results, strict=True))


def result(name: str, server: str) -> str:
    return f'<data source="{name}">\nfrom {server}\n</data>'


@pytest.mark.parametrize("order", [("search", "search_2"), ("search_2", "search")])
def test_tools_of_one_name_on_two_servers_are_told_apart(order, chat_with, model):
    servers = {"search": "srv-1", "search_2": "srv-2"}
    stranger = chat_with("mcp-tools", *[calls(name, q="x") for name in order], says("Both."))
    *legs, _ = stranger.asks(
        "Search both.",
        functions={"execute_agent_tool": answering},
        tools=[tool("search", "srv-1"), tool("search", "srv-2")],
    )
    made = [named(leg, "copilotFunctionCall")[0]["input_arguments"] for leg in legs]
    assert [(one["server_id"], one["tool_name"]) for one in made] == [
        (servers[name], "search") for name in order
    ]
    assert replayed(model) == [(name, result(name, servers[name])) for name in order]


@pytest.mark.parametrize("generation", Generation, ids=["1", "2", "3"])
def test_an_old_chat_with_tools_of_one_name_is_replayed_with_both(generation, service_url, model):
    import_template("widget-reader", model, widget_data="ask", tools=["chart"])
    model.plays(says("Both."))
    history = [QUESTION]
    for name, server in (("search", "a"), ("search", "b"), ("chart", "b"), ("get_widget_data", "")):
        arguments = {"server_id": server, "tool_name": name, "parameters": {"q": "x"}}
        made = {"function": "execute_agent_tool", "input_arguments": arguments}
        given: Any = {"content": f"from {server}"}
        data = given if generation is Generation.ONE else [given]
        data = [{"items": [given]}] if generation is Generation.THREE else data
        history += [
            {"role": "ai", "content": json.dumps(made)},
            {"role": "tool", **made, "data": data},
        ]
    again = {"role": "human", "content": "Sure?"}
    body = {"messages": [*history, again], **offered(generation, NEWS)}
    asks(service_url, "widget-reader", body)
    names = ["search", "search_2", "chart_2", "get_widget_data_2"]
    assert replayed(model) == [
        (name, result(name, server))
        for name, server in zip(names, ("a", "b", "b", ""), strict=True)
    ]
    assert Run.objects.get().generation == generation
