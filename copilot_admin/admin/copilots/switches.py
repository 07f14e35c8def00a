"""Switches of the Build page: one grouped list of features, tools and settings."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.forms import BoundField, MultipleChoiceField
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.copilots.fields import ComponentsField
from copilot_admin.admin.copilots.form import CopilotForm

Text = str | Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """One row of a group: a checkbox, or a select if `field` is set.

    Attributes:
        value: Value of the checkbox if several have one name.
    """

    name: str
    icon: str
    label: Text
    help: Text
    id: str
    value: str = ""
    is_on: bool = False
    field: BoundField | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchGroup:
    """Switches under one heading.

    Attributes:
        id: Target of links to a field that has several switches.
        fields: The fields whose errors are shown under the group.
    """

    id: str
    title: Text
    switches: tuple[Switch, ...]
    fields: tuple[BoundField, ...]


# Name and value of each row, with its icon and help; the label is that of the form.
DATA = (
    ("features", "widget-dashboard-select", "widget", _("Widgets that users add to the chat")),
    ("features", "widget-dashboard-search", "dash", _("Every widget on the open dashboard")),
    ("features", "widget-global-search", "layers", _("Every widget in Workspace")),
    ("features", "file-upload", "file", _("PDF, Word, Excel, CSV and images")),
    ("read_links", "", "link", _("Up to four links in a question")),
    ("sees_images", "", "image", _("Sends images to a vision model")),
    ("widget_data", "", "refresh", _("When widget data is fetched")),
)
OUTPUT = (
    ("tools", "chart", "chart", _("Charts in the answer")),
    ("tools", "table", "table", _("Tables that users can export")),
    ("tools", "html", "code", _("Formatted cards and pages")),
    ("citations", "", "quote", _("Links from numbers to their source")),
    ("features", "prompt-suggestions", "bulb", _("Follow-up questions after an answer")),
    ("features", "feedback", "thumb-up", _("Users can rate answers")),
    ("show_steps", "", "trace", _("What the copilot does while it works")),
    ("reasoning_steps", "", "bolt", _("The model's reasoning as a step")),
)
ACTIONS = (
    ("features", "generative-ui", "edit", _("Adds and updates widgets")),
    ("features", "mcp-tools", "tool", _("Uses the users' MCP servers")),
    ("features", "agent-orchestration", "agents", _("Delegates tasks to other agents")),
)
Row = tuple[str, str, str, Text]


def build_switch_groups(form: CopilotForm) -> tuple[SwitchGroup, ...]:
    """Return the groups with the values of a form; nothing that it offers is left out."""
    listed = {(name, value) for name, value, *_ in (*DATA, *OUTPUT, *ACTIONS)}
    other_features = _rest(form, "features", listed, icon="check")
    other_tools = _rest(form, "tools", listed, icon="tool", help=form.tool_help)
    field = form.fields["components"]
    help = field.help if isinstance(field, ComponentsField) else {}
    components = _rest(form, "components", set(), icon="fx", help=help)
    groups = (
        ("id_features", _("Data"), (*DATA, *other_features), ("features", "widget_data")),
        ("id_tools", _("Output"), (*OUTPUT, *other_tools), ("tools", "citations")),
        ("actions", _("Actions"), ACTIONS, ()),
        ("id_components", _("Built-in tools"), components, ("components",)),
    )
    return tuple(
        SwitchGroup(
            id=id,
            title=title,
            switches=tuple(_build(form, rows)),
            fields=tuple(form[name] for name in names),
        )
        for id, title, rows, names in groups
    )


def _rest(
    form: CopilotForm,
    name: str,
    listed: set[tuple[str, str]],
    *,
    icon: str,
    help: "dict[str, str] | None" = None,
) -> Iterable[Row]:
    known = help or {}
    return [
        (name, value, icon, known.get(value, ""))
        for value, _label in _choices(form, name)
        if (name, value) not in listed
    ]


def _choices(form: CopilotForm, name: str) -> Iterable[tuple[str, Text]]:
    field = form.fields[name]
    return field.choices if isinstance(field, MultipleChoiceField) else ()  # type: ignore[return-value]  # flat


def _build(form: CopilotForm, rows: Iterable[Row]) -> Iterator[Switch]:
    for name, value, icon, help in rows:
        field = form[name]
        if value:
            labels = dict(_choices(form, name))
            if value not in labels:
                continue  # not offered by this server
            yield Switch(
                name=name, value=value, icon=icon, label=labels[value], help=help,
                id=f"id_{name}_{value}", is_on=value in (field.value() or ()),
            )  # fmt: skip
        elif hasattr(field.field, "choices"):
            yield Switch(
                name=name, icon=icon, label=field.label, help=help, id=field.id_for_label,
                field=field,
            )  # fmt: skip
        else:
            yield Switch(
                name=name, icon=icon, label=field.label, help=help, id=field.id_for_label,
                is_on=bool(field.value()),
            )  # fmt: skip
