"""Search for widgets that aren't on the dashboard.

Their data is then fetched with `get_widget_data`; `copilot_admin/agent/client/widgets.py`
decides which function of Workspace is called for it.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Annotated

from pydantic import BaseModel, Field

from copilot_admin.agent.client.limits import WIDGET_DATA_MESSAGES
from copilot_admin.agent.client.widget_data import GET_EXTRA_WIDGET_DATA, distinct_widgets
from copilot_admin.agent.client.widgets import best_widgets, listed_widgets, row_text
from copilot_admin.agent.client_functions.base import (
    ClientFunction,
    ToolDefinition,
    ToolScope,
    describe,
)
from copilot_admin.agent.tools.tool_arguments import read_arguments
from copilot_admin.agent.values.model_call import ToolCall
from protocol.functions import GET_WIDGET_DATA
from protocol.json import JsonObject
from protocol.models import Query, Widget

MAX_FOUND = 10


class FindWidgets(BaseModel):
    """Finds widgets that are not listed, by words. Use it when no listed widget has the data."""

    query: Annotated[str, Field(min_length=1, description="What the widget should show.")]


class GetExtraWidgetData(ClientFunction):
    """Available while there are more widgets than the prompt lists."""

    name = GET_EXTRA_WIDGET_DATA
    only_reads = True
    limit_messages = WIDGET_DATA_MESSAGES

    def define_tools(self, scope: ToolScope) -> Iterable[ToolDefinition]:
        """Yield the search, which the server answers."""
        _, others = listed_widgets(scope.widgets, query=scope.query)
        if others:
            yield ToolDefinition(
                schema=describe("find_widgets", FindWidgets),
                function=self.name,
                answer=partial(_find_widgets, scope.widgets, scope.query),
            )

    def to_tool_call(self, arguments: JsonObject, query: Query) -> tuple[str, JsonObject]:
        """Return the one tool for the data of all widgets."""
        return GET_WIDGET_DATA, arguments


def _find_widgets(widgets: Sequence[Widget], query: Query, call: ToolCall) -> str:
    wanted = read_arguments(FindWidgets, call)
    found = best_widgets(wanted.query, distinct_widgets(widgets), limit=MAX_FOUND)
    rows = (row_text(one, query=query) for one in found)
    return "\n".join((f"The {GET_WIDGET_DATA} tool can get these:", *rows))
