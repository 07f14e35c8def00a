"""MCP tools of the user: their names and schemas, and arguments that every client can read."""

from dataclasses import replace
import json

import pytest

from copilot_admin.agent.client_functions.mcp_tools import ANY_OBJECT, repair_schema
from copilot_admin.agent.tools.tool import ToolMistake
from copilot_admin.agent.values.model_call import ToolCall
from protocol.events import MessageChunk
from protocol.json_schema import schema_fault
from tests.agent.answer_requests import make_query
from tests.agent.client_functions.samples import (
    FULL_QUERY,
    MCP_TOOL,
    WIDGET_UUID,
    answer,
    calls,
    mistake,
    sent,
    tools_of,
)
from tests.agent.scripted import call, text

DATA_REQUEST = f'{{"widgets": [{{"id": "{WIDGET_UUID}", "params": {{"symbol": VALUE}}}}]}}'


def test_a_tool_without_a_server_or_a_schema_takes_any_object():
    bare = replace(make_query(), tools=({"name": "ping", "input_schema": {"type": "array"}},))
    arguments = {"server_id": "", "tool_name": "ping", "parameters": {}}
    assert sent("execute_agent_tool", bare) == arguments
    assert tools_of(bare)["ping"].schema.parameters == ANY_OBJECT


def test_equal_names_get_numbers_and_no_tool_takes_the_name_of_another():
    names = ("a b", "a?b", "save_skill", "x" * 80, "x" * 90, "chart", " ", 3)
    tools = (*({"name": name} for name in names), {})
    found = tools_of(replace(make_query(), tools=tools), taken={"chart"})
    assert [*found] == ["a_b", "a_b_2", "save_skill_2", "x" * 64, "x" * 62 + "_2", "chart_2"]


def test_arguments_that_are_not_an_object_are_a_mistake():
    tool = tools_of()["kb_search_docs"]
    for arguments in ("[]", "{", "[" * 5000):
        with pytest.raises(ToolMistake, match="write a JSON object"):
            tool.arguments(ToolCall(id="c", name="kb", arguments=arguments))


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        *((value, "not strict JSON: ") for value in ("NaN", "-1e400", '"\\ud83d"', '"\ud83d"')),
        ("[" * 60 + "]" * 60, "nested deeper than 40 levels"),
        ("[" * 5000 + "]" * 5000, "not strict JSON: depth limit exceeded"),
    ],
)
@pytest.mark.parametrize(
    ("tool", "around"), [("kb_search_docs", '{"q": VALUE}'), ("get_widget_data", DATA_REQUEST)]
)
def test_arguments_that_a_client_could_not_send_back_are_a_mistake(value, problem, tool, around):
    outputs, made = answer(
        FULL_QUERY, calls((tool, around.replace("VALUE", value))), text("Another.")
    )
    assert MessageChunk("Another.") in outputs
    assert made[1].messages[-1].text.startswith(f"The arguments of the tool '{tool}' are {problem}")


@pytest.mark.parametrize(
    "value", ["1.5e308", '"\\ud83d\\ude00 \\u0000"', '"NaN 1e999"', "[" * 35 + "]" * 35]
)
def test_any_other_arguments_are_sent(value):
    arguments = f'{{"q": {value}}}'
    [event], _ = answer(FULL_QUERY, calls(("kb_search_docs", arguments)))
    assert event.input_arguments["parameters"] == json.loads(arguments)


def test_a_call_of_a_tool_that_vanished_is_explained_and_the_answer_goes_on():
    query = replace(make_query(), tools=(MCP_TOOL,))
    outputs, made = answer(query, call("gone", q=1), text("Sorry."))
    assert MessageChunk("Sorry.") in outputs
    assert made[1].messages[-1].text == "There is no tool called 'gone'. Tools: kb_search_docs."
    assert mistake("execute_agent_tool").endswith("q must be given.")


TEXT, NUMBER = {"type": "string"}, {"type": "number"}


def of(*required, **properties):
    needs = {"required": [*required]} if required else {}
    return {"type": "object", "properties": properties, **needs}


def array(**more):
    return {"type": "array", **more}


PLAIN = of(
    symbol={"type": "string", "description": "A symbol.", "enum": ["AAPL"]},
    rows=array(items=of(day={"type": ["string", "null"]})),
    limit={"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 3},
)


@pytest.mark.parametrize(
    ("given", "repaired"),
    [
        *((one, ANY_OBJECT) for one in (None, {}, True, array(), {"$ref": "#/$defs/None"})),
        ({"type": ["object", "null"]}, ANY_OBJECT),
        ({"$schema": "http://x", **of(a=TEXT)}, of(a=TEXT)),
        (of(tags=array()), of(tags=array(items={}))),
        (of(rows=array(items=array())), of(rows=array(items=array(items=TEXT)))),
        (
            of(rows=array(items={"type": ["object", "null"]})),
            of(rows=array(items={"type": "object"})),
        ),
        (of(pair=array(items=[TEXT, NUMBER])), of(pair=array(items={"anyOf": [TEXT, NUMBER]}))),
        (of(any=True, one={"enum": []}), of(any={}, one={})),
        (of("a", "b", a=TEXT), of("a", a=TEXT)),
        (of(items=TEXT, type=TEXT), of(items=TEXT, type=TEXT)),
        ({"allOf": [of("a", a=TEXT), of(b=TEXT)]}, of("a", a=TEXT, b=TEXT)),
        *(
            (
                {name: [of("a", "c", a=TEXT, c=TEXT), of("b", "c", b=TEXT, c=TEXT)]},
                of("c", a=TEXT, b=TEXT, c=TEXT),
            )
            for name in ("anyOf", "oneOf")
        ),
        ({**PLAIN, "additionalProperties": False}, {**PLAIN, "additionalProperties": False}),
    ],
)
def test_what_a_provider_refuses_is_repaired(given, repaired):
    assert repair_schema(given) == repaired
    assert schema_fault(repaired) == ""


def test_a_reference_at_the_top_is_followed():
    repaired = repair_schema({"$ref": "#/$defs/S", "$defs": {"S": of("q", q=TEXT)}})
    assert (repaired["properties"], repaired["required"]) == ({"q": TEXT}, ["q"])
