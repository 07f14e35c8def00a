"""Widgets that are offered to the model, by name."""

from collections.abc import Mapping, Sequence
import json

from copilot_admin.agent.client.widget_data import may_be_asked, name_of
from copilot_admin.agent.toolkits.ranking import ranked
from copilot_admin.agent.toolkits.texts import listed, quoted
from copilot_admin.agent.tools.tool_arguments import ToolMistake
from protocol.functions import GET_WIDGET_DATA
from protocol.json import Json, JsonObject
from protocol.models import Query, Undefined, Widget, WidgetParam

MOST_EXTRA = 20  # widgets that are not on the dashboard
_MAX_LISTED = 200
_MAX_OPTIONS = 20
_MAX_COLUMNS = 50
_MAX_DESCRIPTION = 500  # characters


def offer_text(widgets: Sequence[Widget], *, query: Query) -> str:
    """The list of offered widgets for the system prompt; empty when there are none.

    Args:
        widgets: That may be asked for.
        query: Says which of them are selected, and what they should fit.
    """
    if not widgets:
        return ""
    listed, others = listed_widgets(widgets, query=query)
    lines = [row_text(one, query=query) for one in listed]
    if others:
        lines.append(f"[{others} more widgets are not listed; find_widgets finds them]")
    text = "\n".join(lines).replace("</data>", "<\\/data>")
    return f'<data source="widgets that {GET_WIDGET_DATA} can get">\n{text}\n</data>'


def listed_widgets(widgets: Sequence[Widget], *, query: Query) -> tuple[list[Widget], int]:
    """The widgets that are listed, in the order of the request, and how many are not."""
    widgets = each_once(widgets)
    on_dashboard = {one.ref for one in (*query.widgets.primary, *query.widgets.secondary)}
    extra = {widget.ref for widget in query.widgets.extra} - on_dashboard
    own = [widget for widget in widgets if widget.ref not in extra][:_MAX_LISTED]
    others = [widget for widget in widgets if widget.ref in extra]
    question = query.question.text if query.question else ""
    listed = [*own, *fitting(question, others, most=MOST_EXTRA)]
    return listed, len(widgets) - len(listed)


def each_once(widgets: Sequence[Widget]) -> list[Widget]:
    """The widgets without those that are there already, with the same values of their parameters.

    Source: what is selected may stand among the widgets of the dashboard, or of all, again.
    """
    found: dict[tuple[str, str], Widget] = {}
    for one in widgets:
        found.setdefault((one.ref, json.dumps(one.input_args(), sort_keys=True)), one)
    return [*found.values()]


def fitting(question: str, widgets: Sequence[Widget], *, most: int) -> list[Widget]:
    """The widgets that fit some words best, best first."""
    if len(widgets) <= most:
        return list(widgets)
    return [widgets[index] for index in ranked(question, list(map(_words, widgets)))[:most]]


def row_text(widget: Widget, *, query: Query) -> str:
    """One widget as the model is told of it: a JSON object on a line."""
    selected = any(widget.ref == one.ref for one in query.widgets.primary)
    return json.dumps(_listed(widget, selected=selected), ensure_ascii=False)


def _words(widget: Widget) -> str:
    params = (f"{param.name} {param.description}" for param in widget.params)
    about = (widget.category, widget.sub_category, widget.source, *widget.columns)
    return " ".join(
        filter(None, (name_of(widget), widget.widget_id, widget.description, *about, *params))
    )


def facts_of(widget: Widget) -> dict[str, Json]:
    """What Workspace knows of a widget besides its name and its parameters."""
    about = {
        "description": _shortened(widget.description),
        "category": widget.category or _in_metadata(widget, "category"),
        "subcategory": widget.sub_category or _in_metadata(widget, "subcategory"),
        "source": widget.source or _in_metadata(widget, "source"),
    }
    known: dict[str, Json] = {key: value for key, value in about.items() if value}
    return known | _counted("columns", widget.columns, most=_MAX_COLUMNS)


def _in_metadata(widget: Widget, name: str) -> str | None:
    value = widget.metadata.get(name)
    return _shortened(value) if isinstance(value, str) else None


def facts_of_param(param: WidgetParam) -> dict[str, Json]:
    """What Workspace knows of a parameter besides its name, its type and the value to ask with."""
    row: dict[str, Json] = {}
    if param.description:
        row["description"] = _shortened(param.description)
    if not isinstance(param.default_value, Undefined):
        row["default"] = param.default_value
    if not isinstance(param.executed_value, Undefined):
        row["executed"] = param.executed_value  # what is on the screen was asked with it
    if param.multi_select:
        row["several"] = True  # the value may be a list
    if param.options:
        return row | _counted("options", param.options, most=_MAX_OPTIONS)
    return row | {"options": "ask"} if param.get_options else row  # with get_params_options


def _listed(widget: Widget, *, selected: bool) -> JsonObject:
    row: dict[str, Json] = {"id": widget.ref, "name": name_of(widget)}
    if widget.uuid:  # else they are the id
        places = {"origin": widget.origin, "widget_id": widget.widget_id}
        row |= {key: value for key, value in places.items() if value}
    if selected:
        row["selected"] = True  # by the user, for this question
    row |= facts_of(widget)
    if widget.params:
        row["params"] = [_listed_param(param) for param in widget.params]
    return row


def _listed_param(param: WidgetParam) -> JsonObject:
    value: dict[str, Json] = {}
    if not isinstance(param.value, Undefined):
        value["value"] = param.value
    return {"name": param.name, "type": param.type, **value, **facts_of_param(param)}


def _counted(name: str, values: Sequence[Json], *, most: int) -> dict[str, Json]:
    listed: dict[str, Json] = {name: list(values[:most])} if values else {}
    return listed | ({f"more_{name}": len(values) - most} if len(values) > most else {})


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_DESCRIPTION else f"{text[:_MAX_DESCRIPTION]}…"


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
