"""Tabs of the user's dashboard."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from copilot_admin.agent.client.workspace import may_be_changed
from copilot_admin.agent.client_functions.base import ClientFunction, ToolDefinition, ToolScope
from copilot_admin.agent.tools.tool_arguments import ToolMistake, read_arguments
from copilot_admin.agent.values.model_call import ToolCall
from protocol.json import JsonObject


def _as_tab(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


class Tab(BaseModel):
    """One tab."""

    name: Annotated[str, Field(min_length=1)]


class ManageTabs(BaseModel):
    """Makes the tab bar of the user's dashboard, or adds, removes or renames tabs.

    Use it only when the user wants that.
    """

    operation: Literal["create", "add_tabs", "remove_tabs", "rename_tabs"]
    tabs: list[Annotated[Tab, BeforeValidator(_as_tab)]] = Field(
        default_factory=list, description="The tabs by name; not for rename_tabs."
    )
    rename_map: dict[str, str] = Field(
        default_factory=dict, description="For rename_tabs alone: old name to new name."
    )


class ManageNavigationBar(ClientFunction):
    """Available if the copilot may change the dashboard."""

    name = "manage_navigation_bar"
    label = "Tabs of the dashboard"

    def define_tools(self, scope: ToolScope) -> Iterable[ToolDefinition]:
        """Yield one tool for all operations."""
        if may_be_changed(scope.spec, scope.query):
            yield self.define_tool(ManageTabs, _read_tabs)


def _read_tabs(call: ToolCall) -> JsonObject:
    given = read_arguments(ManageTabs, call)
    if given.operation == "rename_tabs":
        if not given.rename_map:
            raise ToolMistake("rename_tabs needs 'rename_map': an object of old to new names.")
        return {"operation": given.operation, "rename_map": given.rename_map}
    if not given.tabs:
        raise ToolMistake(f"{given.operation} needs 'tabs': a list of objects with a 'name'.")
    return {"operation": given.operation, "tabs": [{"name": tab.name} for tab in given.tabs]}
