"""Form fields of the Build page."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.rows import RowForm, RowsField
from copilot_admin.admin.common.widgets import SwitchesWidget
from copilot_admin.agent.components.registry import LATEST, registry
from copilot_admin.agent.server_tools import title_of
from copilot_admin.copilots.config_types import Option, StoredRecord, Text


def text_of(
    record: type[StoredRecord], key: str, help: Text = "", **options: Any
) -> forms.CharField:
    """Return an input with the label and the maximum length of a key of a record."""
    info = record.model_fields[key]
    longest = next(one.max_length for one in info.metadata if hasattr(one, "max_length"))
    given: dict[str, Any] = {"label": info.title, "max_length": longest, "help_text": help}
    return forms.CharField(**{**given, "required": info.is_required(), **options})


def area(rows: int, **attributes: str) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, **attributes})


class OneOfField(forms.ChoiceField):
    def __init__(self, options: Sequence[Option]) -> None:
        choices = [(one.value, one.label) for one in options]
        super().__init__(choices=choices, widget=forms.Select({"class": "ca-input"}))


class SwitchesField(forms.MultipleChoiceField):
    """Things that are on; its value is what differs from the defaults."""

    def __init__(self, switches: Sequence[Option]) -> None:
        super().__init__(
            required=False,
            choices=[(one.value, one.label) for one in switches],
            widget=SwitchesWidget({one.value: one.help for one in switches}),
        )
        self.switches = switches

    def clean(self, value: Any) -> dict[str, bool]:
        on = super().clean(value)
        states = {one: one.value in on for one in self.switches}
        return {one.value: is_on for one, is_on in states.items() if is_on is not one.default}

    def to_input(self, stored: Mapping[str, bool]) -> list[str]:
        return [one.value for one in self.switches if stored.get(one.value, one.default)]


class ComponentsField(forms.MultipleChoiceField):
    """Built-in tools that are on, as `name@version`; the value is the rows of a draft."""

    stored: Sequence[Mapping[str, Any]] = ()

    def offer(self, stored: Sequence[Mapping[str, Any]]) -> None:
        """Offer every known version, and those of the draft, which aren't lost by a save."""
        self.stored = stored
        known = {f"{one.name}@{one.version}": one.summary() for one in registry().all()}
        newest = {f"{name}@{LATEST}": _("Always the newest version") for name in registry().names()}
        unknown = _("Unknown on this server. Turn it off.")
        pins = dict.fromkeys([*known, *self.to_input(stored)])
        self.help = {pin: str({**newest, **known}.get(pin, unknown)) for pin in pins}
        self.choices = [(pin, _label_component(pin)) for pin in pins]

    def clean(self, value: Any) -> list[dict[str, Any]]:
        """Return the rows with their settings; two versions of one tool are refused."""
        rows: dict[str, dict[str, Any]] = {}
        settings = {row["name"]: row["config"] for row in self.stored if row.get("config")}
        for pin in super().clean(value):
            name, _at, version = pin.partition("@")
            if name in rows:
                text = _("Choose one version of “%(name)s”.")
                raise forms.ValidationError(text, params={"name": title_of(name)})
            config = {"config": settings[name]} if name in settings else {}
            rows[name] = {"name": name, "version": version, **config}
        return list(rows.values())

    def to_input(self, stored: Sequence[Mapping[str, Any]]) -> list[str]:
        return [f"{row['name']}@{row['version']}" for row in stored]


def _label_component(pin: str) -> str:
    name, _at, version = pin.partition("@")
    is_only = len(registry().versions(name)) == 1 and version != LATEST
    return title_of(name) if is_only else f"{title_of(name)} {version}"


class TextsField(RowsField):
    """List of short texts, edited as rows of one input."""

    def __init__(
        self,
        *,
        noun: Promise,
        row_label: Any,
        max_length: int,
        find_fault: Callable[[str], str] | None = None,
        **options: Any,
    ) -> None:
        def check(text: str) -> None:
            if find_fault and (wrong := find_fault(text)):
                raise forms.ValidationError(capfirst(wrong))

        text = forms.CharField(label=row_label, max_length=max_length, validators=[check])
        form = type("TextRow", (RowForm,), {"noun": noun, "text": text})
        super().__init__(form, **options)

    def clean(self, value: Any) -> list[str]:  # type: ignore[override]  # texts, not records
        return [row["text"] for row in super().clean(value)]

    def to_input(self, stored: Sequence[str]) -> list[dict[str, str]]:
        return [{"text": text} for text in stored]
