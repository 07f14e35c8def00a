"""Variables of the instructions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy


@dataclass(frozen=True, slots=True)
class Variable:
    """A name that is replaced when a question is answered."""

    name: str
    meaning: str | Promise

    @property
    def text(self) -> str:
        return f"{{{{ {self.name} }}}}"


VARIABLES = (
    Variable("copilot.name", gettext_lazy("Name of the copilot")),
    Variable("copilot.slug", gettext_lazy("URL name of the copilot")),
    Variable("today", gettext_lazy("Date in the user's time zone")),
    Variable("now", gettext_lazy("Date and time in the user's time zone")),
    Variable("timezone", gettext_lazy("The user's time zone")),
    Variable("user.email", gettext_lazy("The user's e-mail address, if known")),
    Variable("widgets.primary", gettext_lazy("Names of the selected widgets")),
    Variable("widgets.secondary", gettext_lazy("Names of the widgets on the dashboard")),
)


def build_option_variables(custom_features: Iterable[Mapping[str, Any]]) -> tuple[Variable, ...]:
    """Return the variables of a draft's custom options."""
    found: list[Variable] = []
    for row in custom_features:
        key, label = row["key"], row.get("label") or row["key"]
        found.append(Variable(f"options.{key}", _("Value of “%s”") % label))
        if row.get("type", "toggle") == "toggle":
            found.append(Variable(f"options.{key}.state", _("Text of the state of “%s”") % label))
    return tuple(found)
