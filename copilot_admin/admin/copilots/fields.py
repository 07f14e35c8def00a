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
from copilot_admin.copilots.config import FIELDS_BY_KEY
from copilot_admin.copilots.config_choices import Option

LIVE_COLUMNS = ("enabled", "access", "logging")  # on the Settings tab
SETTINGS_PREFIX = "now"


def texts_of(key: str) -> dict[str, Any]:
    """Return label and help of a field of the configuration."""
    field = FIELDS_BY_KEY[key]
    return {"label": field.label, "help_text": field.help}


def anchor_of(name: str) -> str:
    """Return the id of an input on the Build or Settings page."""
    return f"id_{SETTINGS_PREFIX}-{name}" if name in LIVE_COLUMNS else f"id_{name}"


class SwitchesField(forms.MultipleChoiceField):
    """Things that are on; its value is what differs from the defaults."""

    def __init__(self, switches: Sequence[Option], **options: Any) -> None:
        super().__init__(
            required=False,
            choices=[(one.value, one.label) for one in switches],
            widget=SwitchesWidget({one.value: one.help for one in switches}),
            **options,
        )
        self.switches = switches

    def clean(self, value: Any) -> dict[str, bool]:
        on = super().clean(value)
        return {
            one.value: one.value in on
            for one in self.switches
            if (one.value in on) is not one.default
        }

    def to_input(self, stored: Mapping[str, bool]) -> list[str]:
        return [one.value for one in self.switches if stored.get(one.value, one.default)]


class ComponentsField(forms.MultipleChoiceField):
    """Built-in tools that are on, as `name@version`; the value is the rows of a draft."""

    stored: Sequence[Mapping[str, Any]] = ()

    def offer(self, stored: Sequence[Mapping[str, Any]]) -> None:
        """Offer every known version, and those of the draft, which aren't lost by a save."""
        self.stored = stored
        self.help = {f"{one.name}@{one.version}": one.summary() for one in registry().all()}
        for pin in self.to_input(stored):
            self.help.setdefault(pin, _describe_other(pin))
        self.choices = [(pin, _label_component(pin)) for pin in self.help]

    def clean(self, value: Any) -> list[dict[str, Any]]:
        """Return the rows with their settings.

        Raises:
            ValidationError: Two versions of one tool are on.
        """
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


def _describe_other(pin: str) -> str:
    name, _at, version = pin.partition("@")
    if version == LATEST and name in registry().names():
        return str(_("Always the newest version"))
    return str(_("Unknown on this server. Turn it off."))


def _label_component(pin: str) -> str:
    name, _at, version = pin.partition("@")
    is_only = len(registry().versions(name)) == 1 and version != LATEST
    return title_of(name) if is_only else f"{title_of(name)} {version}"


class TextsField(RowsField):
    """List of short texts, edited as rows of one input.

    Args:
        noun: Name of one text.
        row_label: Label of the input.
        find_fault: Returns the message for an invalid text, or an empty one.
        differ: No two may be the same.
    """

    def __init__(
        self,
        *,
        noun: Promise,
        row_label: Any,
        max_length: int,
        find_fault: Callable[[str], str | Promise] | None = None,
        differ: bool = False,
        **options: Any,
    ) -> None:
        validators = [_build_validator(find_fault)] if find_fault else []
        text = forms.CharField(label=row_label, max_length=max_length, validators=validators)
        form = type("TextRow", (RowForm,), {"noun": noun, "text": text})
        super().__init__(form, unique="text" if differ else "", **options)

    def clean(self, value: Any) -> list[str]:  # type: ignore[override]  # texts, not records
        return [row["text"] for row in super().clean(value)]

    def to_input(self, stored: Sequence[str]) -> list[dict[str, str]]:
        return [{"text": text} for text in stored]


def _build_validator(find_fault: Callable[[str], str | Promise]) -> Callable[[str], None]:
    def check(text: str) -> None:
        if wrong := find_fault(text):
            raise forms.ValidationError(capfirst(str(wrong)))

    return check
