"""The switches of a copilot's components: one for every version there is."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.widgets import SwitchesWidget
from copilot_admin.agent.components.registry import LATEST, registry
from copilot_admin.agent.server_tools import title_of

Row = Mapping[str, Any]


class ComponentsField(forms.MultipleChoiceField):
    """Components that are on; its value is the rows that a draft stores."""

    stored: Sequence[Row] = ()

    def offer(self, stored: Sequence[Row]) -> None:
        """Offers what there is, and what a draft has, so that nothing is lost by looking at it.

        Args:
            stored: The rows of the draft.
        """
        self.stored = stored
        helps = {
            f"{component.name}@{component.version}": component.summary()
            for component in registry().all()
        }
        helps |= {pin: _help_of(pin) for pin in pins_of(stored) if pin not in helps}
        self.widget = SwitchesWidget(helps)
        self.choices = [(pin, _label_of(pin)) for pin in helps]

    def clean(self, value: Any) -> list[dict[str, Any]]:
        """The rows, with what a file configured of them.

        Raises:
            ValidationError: Two versions of one component are on.
        """
        rows: dict[str, dict[str, Any]] = {}
        configs = {row["name"]: row["config"] for row in self.stored if row.get("config")}
        for pin in super().clean(value):
            name, _at, version = pin.partition("@")
            if name in rows:
                raise forms.ValidationError(
                    _("Choose one version of “%(name)s”."), params={"name": title_of(name)}
                )
            config = {"config": configs[name]} if name in configs else {}
            rows[name] = {"name": name, "version": version, **config}
        return list(rows.values())

    def shown(self, stored: Sequence[Row]) -> list[str]:
        """The components that are on in a stored draft."""
        return pins_of(stored)


def pins_of(rows: Sequence[Row]) -> list[str]:
    """Stored rows as people write them: "calculator@v1"."""
    return [f"{row['name']}@{row['version']}" for row in rows]


def _help_of(pin: str) -> str:
    name, _at, version = pin.partition("@")
    if version == LATEST and name in registry().names():
        return str(_("Always the newest version."))
    return str(_("This server has no such component. Switch it off."))


def _label_of(pin: str) -> str:
    name, _at, version = pin.partition("@")
    return f"{title_of(name)} · {version}"
