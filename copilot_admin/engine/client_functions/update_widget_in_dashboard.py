"""Changes the parameters of a widget that is on the user's dashboard."""

from collections.abc import Iterable
from functools import partial
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from copilot_admin.engine.client_functions.registry import ClientFunction, Offer, Situation
from copilot_admin.engine.dashboard import may_be_changed
from copilot_admin.engine.model_call import ToolCall
from copilot_admin.engine.tool_arguments import ToolMistake, read_arguments
from copilot_admin.engine.widget_data import named_widget, source_for
from protocol.functions import get_widget_data_call
from protocol.json import JsonObject
from protocol.query import Query


class UpdateWidget(BaseModel):
    """Changes parameters of a widget on the user's dashboard.

    Use it only when the user wants that.
    """

    model_config = ConfigDict(extra="ignore")

    widget: str = Field(description="The id of a widget on the dashboard, exactly as listed.")
    params: Annotated[
        dict[str, JsonValue], Field(min_length=1, description="The parameters to change.")
    ]


class UpdateWidgetInDashboard(ClientFunction):
    """Offered while the user lets the copilot change the dashboard and it has widgets."""

    name: ClassVar[str] = "update_widget_in_dashboard"

    def offers(self, situation: Situation) -> Iterable[Offer]:
        """One tool for all widgets with a place on the dashboard."""
        widgets = situation.query.widgets
        on_dashboard = any(one.uuid for one in widgets.primary + widgets.secondary)
        if may_be_changed(situation.spec, situation.query) and on_dashboard:
            yield self.offer(UpdateWidget, partial(_arguments, situation.query))


def _arguments(query: Query, call: ToolCall) -> JsonObject:
    wanted = read_arguments(UpdateWidget, call)
    widget = named_widget(wanted.widget, params=wanted.params, query=query)
    if widget.uuid is None:
        raise ToolMistake(f"The widget {wanted.widget!r} is not on the dashboard. Add it instead.")
    return get_widget_data_call([source_for(widget, params=wanted.params)])
