"""Calls of client functions that work, and the request that brings what most of them need."""

from dataclasses import dataclass

from protocol.json import JsonObject
from protocol.models import HumanMessage, Query, Widget, WidgetParam, Widgets

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
    "input_schema": {
        "type": "object",
        "properties": {"q": {"type": "string"}},
        "required": ["q"],
    },
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A call that works.

    Attributes:
        arguments: As a model writes them.
        tool: Which tool is called; "": the one with the name of the function.
        query: The request in which it is offered; usually one with a dashboard that may be
            changed, widgets, an MCP tool, skills and other agents.
    """

    arguments: JsonObject
    tool: str = ""
    query: Query = FULL_QUERY
