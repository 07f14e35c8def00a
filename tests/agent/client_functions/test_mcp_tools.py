"""Tools of the user's MCP servers are called with arguments that every client reads alike."""

from dataclasses import replace
import json

import pytest

from copilot_admin.agent.client_functions.samples import FULL_QUERY, MCP_TOOL, WIDGET_UUID
from copilot_admin.agent.tools.tool_arguments import ToolMistake
from copilot_admin.agent.values.model_call import ToolCall
from protocol.dialects import say
from protocol.events import MessageChunk
from protocol.models import (
    CallMessage,
    DataItem,
    Generation,
    HumanMessage,
    ResultMessage,
    SourceData,
)
from protocol.strict_json import parse
from tests.agent.client_functions.offered_calls import asked, mistake, offers
from tests.agent.engine_inputs import make_engine_input, make_query, outputs_of
from tests.agent.scripted import ScriptedProvider, Step, call, text


def test_mcp_tools_leave_with_all_three_members_and_their_own_name():
    assert asked("execute_agent_tool", q="rates") == {
        "server_id": "srv-1",
        "tool_name": "kb.search/docs",
        "parameters": {"q": "rates"},
    }
    bare = replace(make_query(), tools=({"name": "ping", "input_schema": {"type": "array"}},))
    assert asked("execute_agent_tool", bare) == {
        "server_id": "",
        "tool_name": "ping",
        "parameters": {},
    }
    assert offers(bare)["ping"].schema.parameters == {"type": "object", "properties": {}}


def test_mcp_tools_with_the_same_name_get_numbers_and_take_no_other_tools_name():
    tools = ({"name": "a b"}, {"name": "a?b"}, {"name": "save_skill"}, {"name": "x" * 80},
             {"name": "x" * 90}, {"name": "chart"}, {"name": " "}, {"name": 3}, {})  # fmt: skip
    found = offers(replace(make_query(), tools=tools), taken={"chart"})
    listed = [name for name, offer in found.items() if not offer.unlisted]
    assert listed == ["a_b", "a_b_2", "save_skill_2", "x" * 64, "x" * 62 + "_2", "chart_2"]


NO_NUMBER = "a number that isn't finite, such as NaN. Write another, or a text."
HALF_A_CHARACTER = "half a character, such as \\ud83d alone. Write whole ones."


def test_wrong_arguments_of_an_mcp_tool_are_told():
    assert mistake("execute_agent_tool") == (
        "Wrong arguments for the tool 'execute_agent_tool': q must be given."
    )
    offer = offers()["kb_search_docs"]
    for arguments in ("[]", "{", "[" * 5000):
        with pytest.raises(ToolMistake, match="write a JSON object"):
            offer.arguments(ToolCall(id="c", name="kb", arguments=arguments))


@pytest.mark.parametrize(
    ("tool", "around"),
    [
        ("kb_search_docs", '{"q": DEEP}'),
        (
            "get_widget_data",
            f'{{"widgets": [{{"id": "{WIDGET_UUID}", "params": {{"symbol": DEEP}}}}]}}',
        ),
        (
            "update_widget_in_dashboard",
            f'{{"data_sources": [{{"widget_uuid": "{WIDGET_UUID}", "input_args": {{"symbol": DEEP}}}}]}}',
        ),
    ],
)
def test_arguments_that_a_client_could_not_bring_back_are_not_sent_to_it(tool, around):
    def called(levels, *more):
        deep = around.replace("DEEP", "[" * levels + "]" * levels)
        step = Step((ToolCall(id="1", name=tool, arguments=deep), *text("").actions[-1:]))
        with ScriptedProvider([step, *more]) as provider:
            return outputs_of(make_engine_input(provider, query=FULL_QUERY)), provider.calls

    [event], _ = called(35)
    [(_, said)] = say(event, Generation.THREE)
    result = {"role": "tool", "data": [], **said}
    assert parse(json.dumps({"messages": [{"role": "human"}, result]}).encode())
    for levels in (60, 150, 5000):
        outputs, asked = called(levels, text("Flatter."))
        assert MessageChunk("Flatter.") in outputs
        told = asked[1].messages[-1].text
        assert told == (
            f"The arguments of the tool '{tool}' are nested deeper than 40 levels. Write flatter ones."
        )


@pytest.mark.parametrize(
    ("value", "told"),
    [
        *((value, NO_NUMBER) for value in ("NaN", "-Infinity", "1e999", "-1e400")),
        ('"\\ud83d"', HALF_A_CHARACTER),
        ('{"\\udc00": 1}', HALF_A_CHARACTER),
        ('"\ud83d"', HALF_A_CHARACTER),
    ],
)
def test_arguments_that_clients_read_differently_are_not_sent_to_them(value, told):
    arguments = f'{{"q": {value}}}'
    step = Step(
        (ToolCall(id="1", name="kb_search_docs", arguments=arguments), *text("").actions[-1:])
    )
    with ScriptedProvider([step, text("Another.")]) as provider:
        outputs = outputs_of(make_engine_input(provider, query=FULL_QUERY))
        asked = provider.calls
    assert MessageChunk("Another.") in outputs
    assert asked[1].messages[-1].text == f"The arguments of the tool 'kb_search_docs' have {told}"


@pytest.mark.parametrize("value", ["1.5e308", "9" * 308, '"\\ud83d\\ude00 \\u0000"', '"NaN 1e999"'])
def test_any_other_arguments_are(value):
    arguments = f'{{"q": {value}}}'
    step = Step(
        (ToolCall(id="1", name="kb_search_docs", arguments=arguments), *text("").actions[-1:])
    )
    with ScriptedProvider([step]) as provider:
        [event] = outputs_of(make_engine_input(provider, query=FULL_QUERY))
    assert event.input_arguments["parameters"] == json.loads(arguments)


def test_the_result_of_an_mcp_tool_stands_under_its_name_and_the_tools_stay():
    query = replace(
        FULL_QUERY,
        messages=(
            HumanMessage("Search."),
            CallMessage("execute_agent_tool", asked("execute_agent_tool", q="rates")),
            ResultMessage(
                "execute_agent_tool",
                asked("execute_agent_tool", q="rates"),
                (SourceData((DataItem(content='{"error_type": "e", "content": "down"}'),)),),
            ),
        ),
    )
    with ScriptedProvider([text("It is down.")]) as provider:
        outputs_of(make_engine_input(provider, query=query))
    [made] = provider.calls
    assert "kb_search_docs" in {tool.name for tool in made.tools}
    *_, said, result = made.messages
    assert (said.tool_calls[0].name, said.tool_calls[0].arguments) == (
        "kb_search_docs",
        '{"q": "rates"}',
    )
    assert result.text == (
        '<data source="kb_search_docs">\n{"error_type": "e", "content": "down"}\n</data>'
    )


def test_an_mcp_tool_that_vanished_is_told_and_the_answer_goes_on():
    with ScriptedProvider([call("gone", q=1), text("Sorry.")]) as provider:
        outputs = outputs_of(
            make_engine_input(provider, query=replace(make_query(), tools=(MCP_TOOL,)))
        )
    assert MessageChunk("Sorry.") in outputs
    told = provider.calls[1].messages[-1].text
    assert told == "There is no tool called 'gone'. Tools: kb_search_docs."
