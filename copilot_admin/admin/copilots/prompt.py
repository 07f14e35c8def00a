"""The field of the system prompt, with the placeholders that may stand in it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.common.widgets import PageWidget
from copilot_admin.copilots.config_types import MAX_PROMPT_LENGTH


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A name that is replaced when a question is answered."""

    name: str
    meaning: str | Promise

    @property
    def text(self) -> str:
        """The placeholder as it is written in a prompt."""
        return f"{{{{ {self.name} }}}}"


PLACEHOLDERS = (
    Placeholder("copilot.name", gettext_lazy("the copilot's name")),
    Placeholder("copilot.slug", gettext_lazy("the copilot's slug")),
    Placeholder("today", gettext_lazy("the date where the user is")),
    Placeholder("now", gettext_lazy("date and time where the user is")),
    Placeholder("timezone", gettext_lazy("the user's time zone")),
    Placeholder("user.email", gettext_lazy("the user's e-mail address, when it is sent")),
    Placeholder("widgets.primary", gettext_lazy("names of the selected widgets")),
    Placeholder("widgets.secondary", gettext_lazy("names of the widgets on the dashboard")),
)


def option_placeholders(custom_features: Iterable[Mapping[str, Any]]) -> tuple[Placeholder, ...]:
    """The placeholders that a copilot's own controls bring.

    Args:
        custom_features: Rows as a draft stores them.
    """
    found: list[Placeholder] = []
    for row in custom_features:
        key, label = row["key"], row.get("label") or row["key"]
        found.append(Placeholder(f"options.{key}", _("value of “%s”") % label))
        if row.get("type", "toggle") == "toggle":
            found.append(
                Placeholder(f"options.{key}.state", _("text of the state of “%s”") % label)
            )
    return tuple(found)


class PromptWidget(PageWidget, forms.Textarea):
    """A text area with a palette of placeholders, to click or to type."""

    template_name = "admin/widgets/prompt.html"

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        bound = {"data-ca-most": MAX_PROMPT_LENGTH}
        super().__init__({"rows": 14, "spellcheck": "true", **bound, **(attrs or {})})
        self.options: tuple[Placeholder, ...] = ()

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        context["widget"]["placeholders"] = (*PLACEHOLDERS, *self.options)
        return context
