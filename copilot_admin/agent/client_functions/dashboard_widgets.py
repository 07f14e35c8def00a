"""Adding widgets to the user's dashboard, and changing them."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Annotated

from pydantic import BaseModel, Field, JsonValue

from copilot_admin.agent.client.limits import MAX_SOURCES
from copilot_admin.agent.client.widget_data import source_for
from copilot_admin.agent.client.widgets import WidgetLookup
from copilot_admin.agent.client.workspace import may_be_changed
from copilot_admin.agent.client_functions.base import ClientFunction, ToolDefinition, ToolScope
from copilot_admin.agent.text import quote
from copilot_admin.agent.tools.tool_arguments import ToolMistake, read_arguments
from copilot_admin.agent.values.model_call import ToolCall
from protocol.functions import DataSource, get_widget_data_call
from protocol.json import JsonObject
from protocol.models import Widget

INNER_TAB = "inner_tab"  # is among a widget's arguments, but isn't a parameter


class WantedSource(BaseModel):
    """One widget with its arguments."""

    widget_uuid: str | None = Field(default=None, description="Its id, exactly as listed.")
    origin: str = ""
    id: str = Field(default="", description="Its widget id, where it is listed as origin/id.")
    input_args: dict[str, JsonValue] = Field(
        default_factory=dict, description="Parameters that differ from the listed values."
    )

    @property
    def ref(self) -> str:
        """The uuid, else origin and id."""
        return self.widget_uuid or (f"{self.origin}/{self.id}" if self.origin else self.id)


WantedSources = Annotated[Sequence[WantedSource], Field(min_length=1, max_length=MAX_SOURCES)]


class AddWidget(BaseModel):
    """Adds widgets of Workspace to the user's dashboard. Use it only when the user wants that.

    The argument inner_tab names the tab to put one on; without it, it is the open one.
    """

    data_sources: WantedSources = Field(description="The widgets to add.")


class UpdateWidget(BaseModel):
    """Changes parameters of widgets on the user's dashboard.

    Use it only when the user wants that.
    """

    data_sources: WantedSources = Field(
        description="Widgets on the dashboard, each with the parameters to change."
    )


class AddWidgetToDashboard(ClientFunction):
    """Available if the copilot may change the dashboard and there are widgets."""

    name = "add_widget_to_dashboard"
    label = "Widgets added to the dashboard"

    def define_tools(self, scope: ToolScope) -> Iterable[ToolDefinition]:
        """Yield one tool for all widgets of the request."""
        if may_be_changed(scope.spec, scope.query) and scope.query.widgets:
            yield self.define_tool(AddWidget, partial(_read_added, scope))


class UpdateWidgetInDashboard(ClientFunction):
    """Available if the copilot may change the dashboard and it has widgets."""

    name = "update_widget_in_dashboard"
    label = "Widgets changed on the dashboard"

    def define_tools(self, scope: ToolScope) -> Iterable[ToolDefinition]:
        """Yield one tool for all widgets on the dashboard."""
        widgets = scope.query.widgets
        on_dashboard = any(one.uuid for one in widgets.primary + widgets.secondary)
        if may_be_changed(scope.spec, scope.query) and on_dashboard:
            yield self.define_tool(UpdateWidget, partial(_read_changed, scope))


def _read_added(scope: ToolScope, call: ToolCall) -> JsonObject:
    wanted = read_arguments(AddWidget, call).data_sources
    return get_widget_data_call([source for _, source in _find_all(wanted, scope)])


def _read_changed(scope: ToolScope, call: ToolCall) -> JsonObject:
    wanted = read_arguments(UpdateWidget, call).data_sources
    found = _find_all(wanted, scope)
    for one, (widget, _) in zip(wanted, found, strict=True):
        if widget.uuid is None:
            raise ToolMistake(
                f"The widget {quote(one.ref)} is not on the dashboard. Add it instead."
            )
        if not one.input_args:
            raise ToolMistake(f"The widget {quote(one.ref)} needs 'input_args': what to change.")
    return get_widget_data_call([source for _, source in found])


def _find_all(
    wanted: Sequence[WantedSource], scope: ToolScope
) -> Sequence[tuple[Widget, DataSource]]:
    widgets = WidgetLookup(scope.query)
    return [_find(one, widgets) for one in wanted]


def _find(wanted: WantedSource, widgets: WidgetLookup) -> tuple[Widget, DataSource]:
    args = wanted.input_args
    params = {name: value for name, value in args.items() if name != INNER_TAB}
    widget = widgets.find(wanted.ref, params=params)
    return widget, source_for(widget, params=args)
