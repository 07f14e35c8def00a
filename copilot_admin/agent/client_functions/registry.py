"""The client functions. Add new ones to `CLIENT_FUNCTIONS`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from copilot_admin.agent.client_functions.agent_tasks import AssignTasksToAgents
from copilot_admin.agent.client_functions.base import (
    ClientFunction,
    Identity,
    ToolDefinition,
    ToolScope,
)
from copilot_admin.agent.client_functions.dashboard import (
    AddGenerativeWidget,
    AddWidgetToDashboard,
    ManageNavigationBar,
    UpdateWidgetInDashboard,
)
from copilot_admin.agent.client_functions.mcp_tools import ExecuteAgentTool
from copilot_admin.agent.client_functions.skills import GetSkillContent, SaveSkill
from copilot_admin.agent.client_functions.widget_queries import GetExtraWidgetData, GetParamsOptions
from copilot_admin.agent.tools.tool import MAX_NAME, tool_name
from copilot_admin.agent.values.turn import may_call_client
from protocol.functions import GET_WIDGET_DATA, WIDGET_DATA_FUNCTIONS
from protocol.models import Generation, Query, ResultMessage

CLIENT_FUNCTIONS: tuple[type[ClientFunction], ...] = (
    AddGenerativeWidget,
    AddWidgetToDashboard,
    AssignTasksToAgents,
    ExecuteAgentTool,
    GetExtraWidgetData,
    GetParamsOptions,
    GetSkillContent,
    ManageNavigationBar,
    SaveSkill,
    UpdateWidgetInDashboard,
)


def names() -> Sequence[str]:
    return [function.function for function in CLIENT_FUNCTIONS]


def labels() -> Mapping[str, str]:
    """Return the functions' labels for builders; those for the data of widgets are one."""
    others = (one for one in CLIENT_FUNCTIONS if one.function not in WIDGET_DATA_FUNCTIONS)
    found = {one.function: one.label or one.function for one in others}
    return {GET_WIDGET_DATA: "Data of widgets", **found}


def function_named(name: str) -> type[ClientFunction] | None:
    return next((function for function in CLIENT_FUNCTIONS if function.function == name), None)


def define_tools(scope: ToolScope, *, taken: Iterable[str]) -> Mapping[str, ToolDefinition]:
    """Return all tools of a step by name; `taken` are names of the copilot's other tools."""
    query = scope.query
    is_possible = may_call_client(query) or query.selected_skills
    if query.generation is not Generation.THREE or not is_possible:
        return {}
    used = dict.fromkeys((*taken, *names()), 1)
    found: dict[str, ToolDefinition] = {}
    for function in CLIENT_FUNCTIONS:
        for tool in function.define_tools(scope):
            name = tool.schema.name
            if name != function.function:
                name = _reserve_name(name, used)
            found[name] = replace(tool, schema=replace(tool.schema, name=name))
    return found


def names_in_history(
    query: Query, *, tools: Mapping[str, ToolDefinition], taken: Iterable[str]
) -> Mapping[tuple[str, Identity], str]:
    """Return the names of the tools of earlier calls, by function and identity.

    A tool that is still available has the name of its definition. Another one gets an unused name,
    so that its results aren't attributed to a different tool.
    """
    found = {(tool.function, tool.identity): name for name, tool in tools.items() if tool.identity}
    used = dict.fromkeys((*taken, *names(), *tools), 1)
    for message in query.messages:
        if not isinstance(message, ResultMessage):
            continue
        function = function_named(message.function)
        identity = function.identity(message.input_arguments) if function else ()
        if function and identity and (function.function, identity) not in found:
            wanted, _ = function.to_tool_call(message.input_arguments, query)
            found[function.function, identity] = _reserve_name(wanted, used)
    return found


def _reserve_name(wanted: str, used: dict[str, int]) -> str:
    """Return the name, with a number appended if it is used."""
    plain = name = tool_name(wanted)
    while name in used:
        used[plain] += 1
        suffix = f"_{used[plain]}"
        name = plain[: MAX_NAME - len(suffix)] + suffix
    used[name] = 1
    return name
