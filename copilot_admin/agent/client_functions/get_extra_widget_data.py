"""Finds widgets that are not on the dashboard; their data is then had with `get_widget_data`.

Workspace knows the call for the data as `get_extra_widget_data`; which of the two functions a
call becomes is decided in `engine/client/data_wishes.py`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from copilot_admin.agent.client.call_budget import WIDGET_DATA_WORDS, CallWords
from copilot_admin.agent.client.widget_data import GET_EXTRA_WIDGET_DATA
from copilot_admin.agent.client.widget_offer import (
    MOST_EXTRA,
    each_once,
    fitting,
    listed_widgets,
    row_text,
)
from copilot_admin.agent.client_functions.registry import (
    ClientFunction,
    Offer,
    Situation,
    described,
)
from copilot_admin.agent.client_functions.samples import FULL_QUERY, NEWS, Sample
from copilot_admin.agent.tools.tool_arguments import read_arguments
from copilot_admin.agent.values.model_call import ToolCall
from protocol.functions import GET_WIDGET_DATA
from protocol.json import JsonObject
from protocol.models import Query, Widget, Widgets

MOST_FOUND = 10
_MANY = tuple(replace(NEWS, widget_id=f"news_{number}") for number in range(MOST_EXTRA + 1))


class FindWidgets(BaseModel):
    """Finds widgets that are not listed, by words. Use it when no listed widget has the data."""

    model_config = ConfigDict(extra="ignore")

    query: Annotated[str, Field(min_length=1, description="What the widget should show.")]


class GetExtraWidgetData(ClientFunction):
    """Offers a search while there are more widgets than a model is shown."""

    name: ClassVar[str] = GET_EXTRA_WIDGET_DATA
    only_reads: ClassVar[bool] = True
    words: ClassVar[CallWords] = WIDGET_DATA_WORDS
    samples: ClassVar[Sequence[Sample]] = (
        Sample(
            tool="find_widgets",
            arguments={"query": "news"},
            query=replace(FULL_QUERY, widgets=Widgets(extra=_MANY)),
        ),
    )

    def offers(self, situation: Situation) -> Iterable[Offer]:
        """The search, which is answered here."""
        _, others = listed_widgets(situation.widgets, query=situation.query)
        if others:
            yield Offer(
                schema=described("find_widgets", FindWidgets),
                function=self.name,
                answer=partial(_found, situation.widgets, situation.query),
            )

    def recalled(self, arguments: JsonObject, query: Query) -> tuple[str, JsonObject]:
        """The model knows one tool for the data of all widgets."""
        return GET_WIDGET_DATA, arguments


def _found(widgets: Sequence[Widget], query: Query, call: ToolCall) -> str:
    wanted = read_arguments(FindWidgets, call)
    found = fitting(wanted.query, each_once(widgets), most=MOST_FOUND)
    rows = (row_text(one, query=query) for one in found)
    return "\n".join((f"The {GET_WIDGET_DATA} tool can get these:", *rows))
