"""MCP tools of the user: their names, and arguments that every client can read."""

from dataclasses import replace
import json

import pytest

from copilot_admin.agent.tools.tool_arguments import ToolMistake
from copilot_admin.agent.values.model_call import ToolCall
from protocol.events import MessageChunk
from tests.agent.answer_requests import make_query, make_request, outputs_of
from tests.agent.client_functions.samples import (
    FULL_QUERY,
    MCP_TOOL,
    WIDGET_UUID,
    mistake,
    sent,
    tools_of,
)
from tests.agent.scripted import ScriptedProvider, Step, call, text

NOT_FINITE = "have a number that isn't finite, such as NaN. Write another, or a text."
HALF = "have half a character, such as \\ud83d alone. Write whole ones."
DEEP = "are nested deeper than 40 levels. Write flatter ones."


def test_a_tool_without_a_server_or_a_schema_takes_any_object():
    bare = replace(make_query(), tools=({"name": "ping", "input_schema": {"type": "array"}},))
    assert sent("execute_agent_tool", bare) == {
        "server_id": "",
        "tool_name": "ping",
        "parameters": {},
    }
    assert tools_of(bare)["ping"].schema.parameters == {"type": "object", "properties": {}}


def test_equal_names_get_numbers_and_no_tool_takes_the_name_of_another():
    names = ("a b", "a?b", "save_skill", "x" * 80, "x" * 90, "chart", " ", 3)
    tools = (*({"name": name} for name in names), {})
    found = tools_of(replace(make_query(), tools=tools), taken={"chart"})
    assert [name for name, tool in found.items() if not tool.unlisted] == [
        "a_b",
        "a_b_2",
        "save_skill_2",
        "x" * 64,
        "x" * 62 + "_2",
        "chart_2",
    ]


def test_arguments_that_are_not_an_object_are_a_mistake():
    tool = tools_of()["kb_search_docs"]
    for arguments in ("[]", "{", "[" * 5000):
        with pytest.raises(ToolMistake, match="write a JSON object"):
            tool.arguments(ToolCall(id="c", name="kb", arguments=arguments))


def test_a_model_may_call_the_function_of_workspace_itself():
    twins = tuple({**MCP_TOOL, "server_id": server} for server in ("srv-1", "srv-2"))
    unwrap = tools_of(replace(make_query(), tools=twins))["execute_agent_tool"].arguments

    def made(**arguments):
        return unwrap(ToolCall(id="c", name="execute_agent_tool", arguments=json.dumps(arguments)))

    wanted = {"tool_name": "kb_search_docs", "parameters": {"q": "x"}}
    assert made(**wanted, server_id="srv-2")["server_id"] == "srv-2"
    with pytest.raises(ToolMistake, match="Several servers have a tool called 'kb_search_docs'"):
        made(**wanted)
    with pytest.raises(ToolMistake, match="There is no tool called 'gone'"):
        made(tool_name="gone")


def answer(arguments, name="kb_search_docs"):
    """The outputs of a step with one call, and the calls of the model."""
    made = ToolCall(id="1", name=name, arguments=arguments)
    script = [Step((made, *text("").actions[-1:])), text("Another.")]
    provider = ScriptedProvider(script)
    return outputs_of(make_request(provider, query=FULL_QUERY)), provider.calls


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        *((value, NOT_FINITE) for value in ("NaN", "-Infinity", "1e999", "-1e400")),
        *((value, HALF) for value in ('"\\ud83d"', '{"\\udc00": 1}', '"\ud83d"')),
        *(("[" * levels + "]" * levels, DEEP) for levels in (60, 5000)),
    ],
)
@pytest.mark.parametrize(
    ("tool", "around"),
    [
        ("kb_search_docs", '{"q": VALUE}'),
        (
            "get_widget_data",
            f'{{"widgets": [{{"id": "{WIDGET_UUID}", "params": {{"symbol": VALUE}}}}]}}',
        ),
    ],
)
def test_arguments_that_a_client_could_not_send_back_are_a_mistake(value, problem, tool, around):
    outputs, calls = answer(around.replace("VALUE", value), tool)
    assert MessageChunk("Another.") in outputs
    assert calls[1].messages[-1].text == f"The arguments of the tool '{tool}' {problem}"


@pytest.mark.parametrize(
    "value",
    ["1.5e308", "9" * 308, '"\\ud83d\\ude00 \\u0000"', '"NaN 1e999"', "[" * 35 + "]" * 35],
)
def test_any_other_arguments_are_sent(value):
    arguments = f'{{"q": {value}}}'
    [event], _ = answer(arguments)
    assert event.input_arguments["parameters"] == json.loads(arguments)


def test_a_call_of_a_tool_that_vanished_is_explained_and_the_answer_goes_on():
    query = replace(make_query(), tools=(MCP_TOOL,))
    with ScriptedProvider([call("gone", q=1), text("Sorry.")]) as provider:
        outputs = outputs_of(make_request(provider, query=query))
    assert MessageChunk("Sorry.") in outputs
    told = provider.calls[1].messages[-1].text
    assert told == "There is no tool called 'gone'. Tools: kb_search_docs."
    assert mistake("execute_agent_tool").endswith("q must be given.")
