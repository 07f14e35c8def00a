"""The tools that run on the server. A new tool is a row of `TOOLS`."""

from copilot_admin.agent.tools.artifacts import chart, table
from copilot_admin.agent.tools.html import html
from copilot_admin.agent.tools.tool import Tool

TOOLS: tuple[Tool, ...] = (
    chart,
    html,
    table,
)


def tool_names() -> tuple[str, ...]:
    """Return the names of all tools in alphabetical order."""
    return tuple(sorted(tool.schema.name for tool in TOOLS))


def find_tools(names: tuple[str, ...]) -> tuple[Tool, ...]:
    """Return the tools with these names. Names that no longer exist are ignored."""
    known = {tool.schema.name: tool for tool in TOOLS}
    return tuple(known[name] for name in dict.fromkeys(names) if name in known)
