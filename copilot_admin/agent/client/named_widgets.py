"""Finds the widget that a model names, without a look at all of them for each of many names."""

from collections.abc import Mapping

from copilot_admin.agent.client.widget_data import may_be_asked
from copilot_admin.agent.toolkits.told_names import listed, quoted
from copilot_admin.agent.tools.tool_arguments import ToolMistake
from protocol.json import Json
from protocol.query import Query
from protocol.widgets import Widget

_IDS_IN_A_SENTENCE = 20


class NamedWidgets:
    """The widgets of a request that may be asked for: by their ids, else by a name that only one has."""

    def __init__(self, query: Query) -> None:
        self._by_ref: dict[str, Widget] = {}
        self._by_name: dict[str, Widget | None] = {}  # None: of several
        for widget in filter(may_be_asked, query.widgets.all()):
            self._by_ref.setdefault(widget.ref, widget)
            names = {widget.widget_id, widget.name, f"{widget.origin}/{widget.widget_id}"}
            for name in names:
                self._by_name[name] = None if name in self._by_name else widget

    def find(self, wanted: str, *, params: Mapping[str, Json]) -> Widget:
        """The widget that is meant, if it has these parameters.

        Raises:
            ToolMistake: No such widget may be asked for, or it has no such parameter.
        """
        widget = self._by_ref.get(wanted) or self._by_name.get(wanted)
        if widget is None:
            ids = listed([*self._by_ref][:_IDS_IN_A_SENTENCE])
            raise ToolMistake(
                f"There is no widget with the id {quoted(wanted)}. Offered ids: {ids}."
            )
        has = {param.name for param in widget.params}
        unknown = sorted(set(params) - has)
        if unknown:
            names = listed(sorted(has)) or "none"
            raise ToolMistake(
                f"The widget {quoted(wanted)} has no parameter {quoted(unknown[0])}. "
                f"Its parameters: {names}."
            )
        return widget
