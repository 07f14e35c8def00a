"""Changes of the user's dashboard: its widgets, new widgets of the model, and tabs."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field, JsonValue

from copilot_admin.agent.client.limits import MAX_SOURCES
from copilot_admin.agent.client.widget_data import source_for
from copilot_admin.agent.client.widgets import WidgetLookup
from copilot_admin.agent.client_functions.base import ClientFunction, ToolScope
from copilot_admin.agent.text import map_texts, quote
from copilot_admin.agent.toolkits.markdown_images import without_remote_images
from copilot_admin.agent.tools.artifacts import (
    MAX_SERIES,
    check_columns,
    describe_text_on_x,
    has_text,
)
from copilot_admin.agent.tools.html import MAX_CHARACTERS, prepare_html
from copilot_admin.agent.tools.tool import ToolMistake
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
        return self.widget_uuid or (f"{self.origin}/{self.id}" if self.origin else self.id)

    def find(self, widgets: WidgetLookup) -> tuple[Widget, DataSource]:
        params = {name: value for name, value in self.input_args.items() if name != INNER_TAB}
        widget = widgets.find(self.ref, params=params)
        return widget, source_for(widget, params=self.input_args)


WantedSources = Annotated[Sequence[WantedSource], Field(min_length=1, max_length=MAX_SOURCES)]


class AddWidgetToDashboard(ClientFunction):
    """Adds widgets of Workspace to the user's dashboard. Use it only when the user wants that.

    The argument inner_tab names the tab to put one on; without it, it is the open one.
    """

    function = "add_widget_to_dashboard"
    label = "Widgets added to the dashboard"
    changes_dashboard = True

    data_sources: WantedSources = Field(description="The widgets to add.")

    def build(self, scope: ToolScope) -> JsonObject:
        widgets = WidgetLookup(scope.query)
        return get_widget_data_call([one.find(widgets)[1] for one in self.data_sources])

    @classmethod
    def is_available(cls, scope: ToolScope) -> bool:
        return bool(scope.query.widgets)


class UpdateWidgetInDashboard(ClientFunction):
    """Changes parameters of widgets on the user's dashboard.

    Use it only when the user wants that.
    """

    function = "update_widget_in_dashboard"
    label = "Widgets changed on the dashboard"
    changes_dashboard = True

    data_sources: WantedSources = Field(
        description="Widgets on the dashboard, each with the parameters to change."
    )

    def build(self, scope: ToolScope) -> JsonObject:
        widgets = WidgetLookup(scope.query)
        found = [one.find(widgets) for one in self.data_sources]
        for one, (widget, _) in zip(self.data_sources, found, strict=True):
            name = quote(one.ref)
            if widget.uuid is None:
                raise ToolMistake(f"The widget {name} is not on the dashboard. Add it instead.")
            if not one.input_args:
                raise ToolMistake(f"The widget {name} needs 'input_args': what to change.")
        return get_widget_data_call([source for _, source in found])

    @classmethod
    def is_available(cls, scope: ToolScope) -> bool:
        widgets = scope.query.widgets
        return any(one.uuid for one in widgets.primary + widgets.secondary)


class ChartParams(BaseModel):
    """Form in which rows are drawn."""

    chartType: Literal["line", "bar", "scatter", "pie", "donut"]
    xKey: str = Field(default="", description="The key of the x axis.")
    yKey: list[str] = Field(
        default_factory=list, max_length=MAX_SERIES, description="The keys with numbers."
    )
    angleKey: str = Field(default="", description="Of pie and donut: the key with numbers.")
    calloutLabelKey: str = Field(default="", description="Of pie and donut: the key of labels.")


class AddGenerativeWidget(ClientFunction):
    """Adds a new widget of your own to the user's dashboard: a note (Markdown), HTML, a table or a chart.

    Use it only when the user wants something on the dashboard.
    """

    function = "add_generative_widget"
    label = "New widgets of the copilot's own"
    changes_dashboard = True
    keeps_texts = True  # the HTML is cleaned as HTML

    widget_type: Literal["chart", "table", "note", "html"]
    name: Annotated[str, Field(min_length=1, max_length=200)]
    description: str = ""
    data: str | list[dict[str, JsonValue]] = Field(
        description="The text of a note or HTML; one object for each row of a table or chart."
    )
    chart_params: ChartParams | None = Field(default=None, description="Of a chart alone.")
    inner_tab: str = Field(
        default="", description="The tab to put it on; leave it out for the open one."
    )

    def build(self, scope: ToolScope) -> JsonObject:
        is_text = self.widget_type in ("note", "html")
        if not self.data or isinstance(self.data, str) is not is_text:
            what = "a text" if is_text else "a list of rows"
            raise ToolMistake(f"A widget of the type {self.widget_type!r} needs {what} as 'data'.")
        arguments = self.model_dump(exclude_defaults=True, exclude={"chart_params"})
        if self.widget_type == "chart":
            arguments["chart_params"] = self._chart_params()
        sources = scope.spec.html_sources
        cleaned = map_texts(arguments, partial(without_remote_images, sources=sources))
        if self.widget_type != "html":
            return cleaned
        if len(self.data) > MAX_CHARACTERS:
            raise ToolMistake(f"HTML has {MAX_CHARACTERS} characters at most. Write less.")
        return {**cleaned, "data": prepare_html(str(self.data), sources=sources)}

    def _chart_params(self) -> JsonObject:
        params = self.chart_params
        label = params and (params.xKey or params.calloutLabelKey)
        values = params and (params.yKey or [params.angleKey])
        if not params or not label or not values or not all(values):
            raise ToolMistake(
                "A chart needs 'chart_params' with 'chartType', 'xKey' and at least one key in"
                " 'yKey'."
            )
        rows = [row for row in self.data if isinstance(row, dict)]
        check_columns((label, *values), rows=rows)
        if params.chartType == "scatter" and has_text(label, rows=rows):
            raise ToolMistake(describe_text_on_x(label))
        drawn: JsonObject = {"chartType": params.chartType, "xKey": label, "yKey": [*values]}
        if params.chartType in ("pie", "donut"):
            angle, callout = params.angleKey or values[0], params.calloutLabelKey or label
            drawn = {**drawn, "angleKey": angle, "calloutLabelKey": callout}
        return drawn


class Tab(BaseModel):
    """One tab."""

    name: Annotated[str, Field(min_length=1)]


_AsTab = BeforeValidator(lambda value: {"name": value} if isinstance(value, str) else value)


class ManageNavigationBar(ClientFunction):
    """Makes the tab bar of the user's dashboard, or adds, removes or renames tabs.

    Use it only when the user wants that.
    """

    function = "manage_navigation_bar"
    label = "Tabs of the dashboard"
    changes_dashboard = True

    operation: Literal["create", "add_tabs", "remove_tabs", "rename_tabs"]
    tabs: list[Annotated[Tab, _AsTab]] = Field(
        default_factory=list, description="The tabs by name; not for rename_tabs."
    )
    rename_map: dict[str, str] = Field(
        default_factory=dict, description="For rename_tabs alone: old name to new name."
    )

    def build(self, scope: ToolScope) -> JsonObject:
        if self.operation == "rename_tabs":
            if not self.rename_map:
                raise ToolMistake("rename_tabs needs 'rename_map': an object of old to new names.")
            return {"operation": self.operation, "rename_map": self.rename_map}
        if not self.tabs:
            raise ToolMistake(f"{self.operation} needs 'tabs': a list of objects with a 'name'.")
        return {"operation": self.operation, "tabs": [{"name": tab.name} for tab in self.tabs]}
