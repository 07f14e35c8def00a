"""Changes the parameters of widgets that are on the user's dashboard."""

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from copilot_admin.agent.client.call_budget import CallWords
from copilot_admin.agent.client.dashboard import (
    WantedSource,
    WantedSources,
    may_be_changed,
    resolved,
)
from copilot_admin.agent.client.widget_offer import NamedWidgets
from copilot_admin.agent.client_functions.registry import ClientFunction, Offer, Situation
from copilot_admin.agent.client_functions.samples import WIDGET_UUID, Sample
from copilot_admin.agent.toolkits.texts import quoted
from copilot_admin.agent.tools.tool_arguments import ToolMistake, read_arguments
from copilot_admin.agent.values.model_call import ToolCall
from protocol.functions import DataSource, get_widget_data_call
from protocol.json import JsonObject


class UpdateWidget(BaseModel):
    """Changes parameters of widgets on the user's dashboard.

    Use it only when the user wants that.
    """

    model_config = ConfigDict(extra="ignore")

    data_sources: WantedSources = Field(
        description="Widgets on the dashboard, each with the parameters to change."
    )


class UpdateWidgetInDashboard(ClientFunction):
    """Offered while the user lets the copilot change the dashboard and it has widgets."""

    name: ClassVar[str] = "update_widget_in_dashboard"
    label: ClassVar[str] = "Widgets changed on the dashboard"
    words: ClassVar[CallWords] = CallWords(
        done="Widgets were already changed", no_more="no more widgets are changed"
    )
    samples: ClassVar[Sequence[Sample]] = (
        Sample(
            arguments={
                "data_sources": [{"widget_uuid": WIDGET_UUID, "input_args": {"symbol": "AAPL"}}]
            }
        ),
    )

    def offers(self, situation: Situation) -> Iterable[Offer]:
        """One tool for all widgets with a place on the dashboard."""
        widgets = situation.query.widgets
        on_dashboard = any(one.uuid for one in widgets.primary + widgets.secondary)
        if may_be_changed(situation.spec, situation.query) and on_dashboard:
            yield self.offer(UpdateWidget, partial(_arguments, situation))


def _arguments(situation: Situation, call: ToolCall) -> JsonObject:
    wanted = read_arguments(UpdateWidget, call)
    widgets, sources = NamedWidgets(situation.query), situation.spec.html_sources
    return get_widget_data_call(
        [_changed(one, widgets=widgets, sources=sources) for one in wanted.data_sources]
    )


def _changed(
    wanted: WantedSource, *, widgets: NamedWidgets, sources: Collection[str]
) -> DataSource:
    widget, source = resolved(wanted, widgets=widgets, sources=sources)
    if widget.uuid is None:
        raise ToolMistake(
            f"The widget {quoted(wanted.ref)} is not on the dashboard. Add it instead."
        )
    if not wanted.input_args:
        raise ToolMistake(f"The widget {quoted(wanted.ref)} needs 'input_args': what to change.")
    return source
