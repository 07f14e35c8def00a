"""Lists the widgets that a model may ask for: all of the dashboard, the fitting ones of the rest.

"All widgets" of Workspace are hundreds. A list of them helps no model, so of the widgets that are
not on the dashboard only those are listed that fit the question best; the others are found with
the tool `find_widgets`. What fits is ranked by the words of name, description, category and
parameters (see `engine/toolkits/ranking.py`).
"""

from collections.abc import Sequence
import json

from copilot_admin.engine.client.widget_data import name_of
from copilot_admin.engine.toolkits.ranking import ranked
from protocol.functions import GET_WIDGET_DATA
from protocol.json import Json, JsonObject
from protocol.query import Query
from protocol.widgets import Undefined, Widget, WidgetParam

MOST_EXTRA = 20  # widgets that are not on the dashboard
_MAX_LISTED = 200
_MAX_OPTIONS = 20
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
    extra = {widget.ref for widget in query.widgets.extra}
    own = [widget for widget in widgets if widget.ref not in extra][:_MAX_LISTED]
    others = [widget for widget in widgets if widget.ref in extra]
    question = query.question.text if query.question else ""
    listed = [*own, *fitting(question, others, most=MOST_EXTRA)]
    return listed, len(widgets) - len(listed)


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


def _listed(widget: Widget, *, selected: bool) -> JsonObject:
    row: dict[str, Json] = {"id": widget.ref, "name": name_of(widget)}
    if selected:
        row["selected"] = True  # by the user, for this question
    if widget.description:
        row["description"] = widget.description[:_MAX_DESCRIPTION]
    if widget.params:
        row["params"] = [_listed_param(param) for param in widget.params]
    return row


def _listed_param(param: WidgetParam) -> JsonObject:
    row: dict[str, Json] = {"name": param.name, "type": param.type}
    if param.description:
        row["description"] = param.description[:_MAX_DESCRIPTION]
    if not isinstance(param.value, Undefined):
        row["value"] = param.value
    if param.multi_select:
        row["several"] = True  # the value may be a list
    if param.options:
        row["options"] = list(param.options[:_MAX_OPTIONS])
    elif param.get_options:
        row["options"] = "ask"  # with get_params_options
    return row
