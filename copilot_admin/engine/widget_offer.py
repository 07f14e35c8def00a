"""Lists the widgets that a model may ask for."""

from collections.abc import Sequence
import json

from copilot_admin.engine.widget_data import name_of
from protocol.functions import GET_WIDGET_DATA
from protocol.json import Json, JsonObject
from protocol.widgets import Undefined, Widget, WidgetParam

_MAX_LISTED = 200  # "all widgets" of Workspace are thousands; a list of them helps no model
_MAX_OPTIONS = 20
_MAX_DESCRIPTION = 500  # characters


def offer_text(widgets: Sequence[Widget], *, selected: Sequence[Widget]) -> str:
    """The list of offered widgets for the system prompt; empty when there are none."""
    if not widgets:
        return ""
    chosen = {widget.ref for widget in selected}
    rows = (_listed(one, selected=one.ref in chosen) for one in widgets[:_MAX_LISTED])
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    if len(widgets) > _MAX_LISTED:
        lines.append(f"[{len(widgets) - _MAX_LISTED} more widgets are not listed]")
    listed = "\n".join(lines).replace("</data>", "<\\/data>")
    return f'<data source="widgets that {GET_WIDGET_DATA} can get">\n{listed}\n</data>'


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
    if param.options:
        row["options"] = list(param.options[:_MAX_OPTIONS])
    return row
