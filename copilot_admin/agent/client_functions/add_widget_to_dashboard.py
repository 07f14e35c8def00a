"""Puts a widget of Workspace on the user's dashboard."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from copilot_admin.agent.client.call_budget import CallWords
from copilot_admin.agent.client.dashboard import WantedSources, may_be_changed, resolved
from copilot_admin.agent.client.widget_offer import NamedWidgets
from copilot_admin.agent.client_functions.registry import ClientFunction, Offer, Situation
from copilot_admin.agent.client_functions.samples import WIDGET_UUID, Sample
from copilot_admin.agent.tools.tool_arguments import read_arguments
from copilot_admin.agent.values.model_call import ToolCall
from protocol.functions import get_widget_data_call
from protocol.json import JsonObject


class AddWidget(BaseModel):
    """Adds widgets of Workspace to the user's dashboard. Use it only when the user wants that.

    The argument inner_tab names the tab to put one on; without it, it is the open one.
    """

    model_config = ConfigDict(extra="ignore")

    data_sources: WantedSources = Field(description="The widgets to add.")


class AddWidgetToDashboard(ClientFunction):
    """Offered while the user lets the copilot change the dashboard and there are widgets."""

    name: ClassVar[str] = "add_widget_to_dashboard"
    label: ClassVar[str] = "Widgets added to the dashboard"
    words: ClassVar[CallWords] = CallWords(
        done="Widgets were already added", no_more="no more widgets are added"
    )
    samples: ClassVar[Sequence[Sample]] = (
        Sample(arguments={"data_sources": [{"widget_uuid": WIDGET_UUID}]}),
    )

    def offers(self, situation: Situation) -> Iterable[Offer]:
        """One tool for all widgets that the request lists."""
        if may_be_changed(situation.spec, situation.query) and situation.query.widgets:
            yield self.offer(AddWidget, partial(_arguments, situation))


def _arguments(situation: Situation, call: ToolCall) -> JsonObject:
    wanted = read_arguments(AddWidget, call)
    widgets, sources = NamedWidgets(situation.query), situation.spec.html_sources
    return get_widget_data_call(
        [resolved(one, widgets=widgets, sources=sources)[1] for one in wanted.data_sources]
    )
