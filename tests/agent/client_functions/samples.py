"""Calls of client functions that work, and ways to make others."""

from dataclasses import replace
import json
from typing import Any, NamedTuple

import pytest

from copilot_admin.agent.client_functions.base import ToolDefinition, ToolScope
from copilot_admin.agent.client_functions.registry import define_tools
from copilot_admin.agent.tools.tool import ToolMistake
from copilot_admin.agent.values.model_call import ToolCall
from protocol.json import JsonObject
from protocol.models import HumanMessage, Query, Widget, WidgetParam, Widgets
from tests.agent.answer_requests import make_request, make_spec, outputs_of
from tests.agent.scripted import ScriptedProvider, Step, text

WIDGET_UUID = "91ae0c1e-6f54-4f7c-9b3a-0d4c7d3f1a01"
AGENT = "macro"
SKILL = "brief"
PRICES = Widget(
    uuid=WIDGET_UUID,
    origin="OpenBB API",
    widget_id="price",
    name="Prices",
    params=(
        WidgetParam(name="symbol", current_value="TSLA", get_options=True),
        WidgetParam(
            name="venue",
            get_options=True,
            options_params=({"name": "ticker", "inherit_value_from": "symbol"}, {"name": "x"}),
        ),
        WidgetParam(name="days", type="integer", default_value=5),
    ),
)
NEWS = Widget(origin="OpenBB API", widget_id="news", name="News")
MCP_TOOL: JsonObject = {
    "server_id": "srv-1",
    "name": "kb.search/docs",
    "url": "https://mcp.example",
    "description": "Searches.",
    "input_schema": {"properties": {"q": {"type": "string"}}, "required": ["q"]},
}
SKILLS: tuple[JsonObject, ...] = (
    {"slug": SKILL, "description": "Writes a brief.", "updatedAt": "2026-01-01"},
    {"slug": "memo", "description": "Writes a memo."},
)
STATE: JsonObject = {
    "current_dashboard_info": {
        "id": "d-1",
        "name": "Morning </data>",
        "current_tab_id": "rates",
        "tabs": [
            {"tab_id": "rates", "widgets": [{"widget_uuid": WIDGET_UUID, "name": "Prices"}, 3]},
            {"tab_id": "__no_tab__", "widgets": None},
        ],
    },
    "agents": [
        {"id": AGENT, "name": "Macro", "description": "Knows  rates.", "holder_url": "https://m"},
        {"name": "without an id"},
    ],
}
FULL_QUERY = Query(
    messages=(HumanMessage("What moved?"),),
    widgets=Widgets(primary=(PRICES,), extra=(NEWS,)),
    tools=(MCP_TOOL,),
    skills_catalog=SKILLS,
    workspace_state=STATE,
    workspace_options={"generative-ui": True},
)


_NEWS = tuple(replace(NEWS, widget_id=f"news_{number}") for number in range(21))


class Sample(NamedTuple):
    """Arguments that work, the name of the tool if it isn't the function's, and the request."""

    arguments: JsonObject
    tool: str = ""
    query: Query = FULL_QUERY


ONE_WIDGET = {"data_sources": [{"widget_uuid": WIDGET_UUID}]}
CHANGED = {"data_sources": [{"widget_uuid": WIDGET_UUID, "input_args": {"symbol": "AAPL"}}]}
TASK = {"description": "Explain rates.", "assigned_agent_id": AGENT}
SAMPLES: dict[str, Sample] = {
    "add_generative_widget": Sample({"widget_type": "note", "name": "Note", "data": "Hello"}),
    "add_widget_to_dashboard": Sample(ONE_WIDGET),
    "assign_tasks_to_agents": Sample({"task_requests": [TASK]}),
    "execute_agent_tool": Sample({"q": "rates"}, tool="kb_search_docs"),
    "get_extra_widget_data": Sample(
        {"query": "news"}, "find_widgets", replace(FULL_QUERY, widgets=Widgets(extra=_NEWS))
    ),
    "get_params_options": Sample({"widget": WIDGET_UUID, "param": "venue"}),
    "get_skill_content": Sample({"slug": SKILL}),
    "manage_navigation_bar": Sample({"operation": "add_tabs", "tabs": [{"name": "Rates"}]}),
    "save_skill": Sample({"name": "Brief"}),
    "update_widget_in_dashboard": Sample(CHANGED),
}


def answer(query: Query, *script: Any, **more: Any) -> Any:
    """Return the outputs of an answer, and the calls of the model."""
    provider = ScriptedProvider(script)
    return outputs_of(make_request(provider, query=query, **more)), provider.calls


def calls(*named: tuple[str, str]) -> Step:
    """Return a step of the model with some calls."""
    made = (ToolCall(id=str(n), name=name, arguments=one) for n, (name, one) in enumerate(named))
    return Step((*made, *text("").actions[-1:]))


def tools_of(query: Query = FULL_QUERY, *, taken: Any = (), **spec: Any) -> Any:
    """Return the tools of a request by name."""
    scope = ToolScope(spec=make_spec(**spec), query=query, widgets=query.widgets.all())
    return define_tools(scope, taken=taken)


def made_call(tool: ToolDefinition, arguments: JsonObject) -> ToolCall:
    return ToolCall(id="c", name=tool.schema.name, arguments=json.dumps(arguments))


def sent(function: str, query: Query = FULL_QUERY, /, **arguments: Any) -> Any:
    """Return what Workspace gets when the model calls the first tool of a function."""
    tool = next(one for one in tools_of(query).values() if one.function == function)
    return tool.arguments(made_call(tool, arguments))


def mistake(function: str, query: Query = FULL_QUERY, /, **arguments: Any) -> str:
    """Return what the model reads after a wrong call."""
    with pytest.raises(ToolMistake) as caught:
        sent(function, query, **arguments)
    return str(caught.value)
