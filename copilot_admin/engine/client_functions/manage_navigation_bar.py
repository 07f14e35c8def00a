"""Makes, renames and removes the tabs of the user's dashboard."""

from collections.abc import Iterable
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from copilot_admin.engine.client_functions.registry import ClientFunction, Offer, Situation
from copilot_admin.engine.dashboard import may_be_changed
from copilot_admin.engine.model_call import ToolCall
from copilot_admin.engine.tool_arguments import ToolMistake, read_arguments
from protocol.json import JsonObject


class ManageTabs(BaseModel):
    """Makes the tab bar of the user's dashboard, or adds, removes or renames tabs.

    Use it only when the user wants that.
    """

    model_config = ConfigDict(extra="ignore")

    operation: Literal["create", "add_tabs", "remove_tabs", "rename_tabs"]
    tabs: list[str] = Field(
        default_factory=list, description="The names of the tabs; not for rename_tabs."
    )
    rename: dict[str, str] = Field(
        default_factory=dict, description="For rename_tabs alone: old name to new name."
    )


class ManageNavigationBar(ClientFunction):
    """Offered while the user lets the copilot change the dashboard."""

    name: ClassVar[str] = "manage_navigation_bar"

    def offers(self, situation: Situation) -> Iterable[Offer]:
        """One tool for all operations."""
        if may_be_changed(situation.spec, situation.query):
            yield self.offer(ManageTabs, _arguments)

    def recalled(self, arguments: JsonObject, query: object) -> tuple[str, JsonObject]:
        """The names alone, as the model gave them."""
        match arguments:
            case {"operation": operation, "rename_map": renamed}:
                return self.name, {"operation": operation, "rename": renamed}
            case {"operation": operation, "tabs": [*tabs]}:
                names = [tab.get("name") for tab in tabs if isinstance(tab, dict)]
                return self.name, {"operation": operation, "tabs": list(names)}
        return self.name, arguments


def _arguments(call: ToolCall) -> JsonObject:
    given = read_arguments(ManageTabs, call)
    if given.operation == "rename_tabs":
        if not given.rename:
            raise ToolMistake("rename_tabs needs 'rename': an object of old names to new names.")
        return {"operation": given.operation, "rename_map": dict(given.rename)}
    if not given.tabs:
        raise ToolMistake(f"{given.operation} needs 'tabs': a list of names.")
    return {"operation": given.operation, "tabs": [{"name": name} for name in given.tabs]}
