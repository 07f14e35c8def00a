"""Puts a widget of Workspace on the user's dashboard."""

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from copilot_admin.engine.client_functions.registry import ClientFunction, Offer, Situation
from copilot_admin.engine.dashboard import may_be_changed
from copilot_admin.engine.model_call import ToolCall
from copilot_admin.engine.tool_arguments import read_arguments
from copilot_admin.engine.widget_data import named_widget, source_for
from protocol.functions import get_widget_data_call
from protocol.json import JsonObject
from protocol.query import Query


class AddWidget(BaseModel):
    """Adds a widget of Workspace to the user's dashboard. Use it only when the user wants that."""

    model_config = ConfigDict(extra="ignore")

    widget: str = Field(description="The id of a listed widget, exactly as listed.")
    params: dict[str, JsonValue] = Field(
        default_factory=dict, description="Parameters that differ from the listed values."
    )
    tab: str = Field(default="", description="The tab to put it on; leave it out for the open one.")


class AddWidgetToDashboard(ClientFunction):
    """Offered while the user lets the copilot change the dashboard and there are widgets."""

    name: ClassVar[str] = "add_widget_to_dashboard"

    def offers(self, situation: Situation) -> Iterable[Offer]:
        """One tool for all widgets that the request lists."""
        if may_be_changed(situation.spec, situation.query) and situation.query.widgets:
            yield self.offer(AddWidget, partial(_arguments, situation.query))


def _arguments(query: Query, call: ToolCall) -> JsonObject:
    wanted = read_arguments(AddWidget, call)
    widget = named_widget(wanted.widget, params=wanted.params, query=query)
    tab = {"inner_tab": wanted.tab} if wanted.tab else {}
    return get_widget_data_call([source_for(widget, params={**wanted.params, **tab})])
