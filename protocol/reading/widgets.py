"""Read the offered widgets: a flat list (generation 1) or three groups."""

from collections.abc import Iterable, Mapping

from protocol.json import Json
from protocol.models import UNDEFINED, Undefined, Widget, WidgetParam, Widgets
from protocol.reading.fields import Fields
from protocol.reading.notes import Notes

# Source: the definition of a column in the settings of a widget, and what others call the same.
_COLUMN_NAMES = ("field", "name", "headerName")


def read_widgets(raw: Json, *, notes: Notes) -> Widgets:
    """Read the widgets; the whole list of generation 1 counts as selected."""
    if raw is None:
        return Widgets()
    if isinstance(raw, list | tuple):
        listed = Fields({"widgets": raw}, path="", notes=notes)
        return Widgets(primary=_group(listed, "widgets"))
    if not isinstance(raw, Mapping):
        notes.dropped("widgets", wanted="an object or a list")
        return Widgets()
    groups = Fields(raw, path="widgets", notes=notes)
    return Widgets(
        primary=_group(groups, "primary"),
        secondary=_group(groups, "secondary"),
        extra=_group(groups, "extra"),
    )


def _group(fields: Fields, name: str) -> tuple[Widget, ...]:
    read = (_widget(one) for one in fields.objects(name))
    return tuple(widget for widget in read if widget is not None)


def _widget(fields: Fields) -> Widget | None:
    """A widget that can be asked for; the uuid of an uploaded file is missing, so either id does."""
    uuid = fields.optional_text("uuid")
    widget_id = fields.text("widget_id") or (fields.text("id") if "id" in fields.raw else "")
    if not uuid and not widget_id:
        fields.notes.dropped(fields.path, wanted="a widget with a uuid or a widget_id")
        return None
    return Widget(
        origin=fields.text("origin"),
        widget_id=widget_id,
        uuid=uuid,
        name=fields.text("name"),
        description=fields.text("description"),
        params=_params(fields),
        metadata=fields.object("metadata"),
        source=fields.optional_text("source"),
        category=fields.optional_text("category"),
        sub_category=fields.optional_text("sub_category"),
        columns=_columns(fields),
    )


def _columns(fields: Fields) -> tuple[str, ...]:
    """The names of the columns; a column may be an object that has the name of its values."""
    names = []
    for index, one in enumerate(fields.list("columns")):
        names_it = one if isinstance(one, Mapping) else {}
        name = next(filter(None, map(names_it.get, _COLUMN_NAMES)), one)
        if isinstance(name, str):
            names.append(name)
        else:
            fields.notes.dropped(f"{fields.at('columns')}[{index}]", wanted="the name of a column")
    return tuple(names)


def _params(fields: Fields) -> tuple[WidgetParam, ...]:
    params: dict[str, WidgetParam] = {}
    for one in fields.objects("params"):
        name = one.text("name")
        if not name:
            one.notes.dropped(one.path, wanted="a parameter with a name")
        elif name in params:
            one.notes.add(f"`{one.path}` repeats the parameter {name}; the first one is used.")
        else:
            params[name] = _param(one, name=name)
    return tuple(params.values())


def _param(fields: Fields, *, name: str) -> WidgetParam:
    return WidgetParam(
        name=name,
        type=fields.text("type") or "string",
        description=fields.text("description"),
        current_value=_value(fields, "current_value"),
        executed_value=_value(fields, "executed_value"),
        default_value=_value(fields, "default_value"),
        options=fields.list("options"),
        multi_select=fields.flag("multi_select"),
        split_on_citation=fields.flag("split_param_on_citation"),
        get_options=fields.flag("get_options"),
        options_params=_raw(fields.objects("options_params")),
    )


def _value(fields: Fields, name: str) -> "Json | Undefined":
    """A missing value and the client's word for one are undefined; null is a value."""
    value = fields.raw.get(name, UNDEFINED.value)
    return UNDEFINED if value == UNDEFINED.value else value


def _raw(objects: Iterable[Fields]) -> tuple[Mapping[str, Json], ...]:
    return tuple(one.raw for one in objects)
