"""Inputs of forms, written without a template for each: the page of a copilot has a hundred."""

from collections.abc import Mapping
from typing import Any

from django.forms.renderers import DjangoTemplates
from django.http import HttpRequest
from django.utils.html import escape
from django.utils.safestring import SafeData, SafeString

# Those templates of Django's that are nothing but an input.
INPUTS = frozenset(
    f"django/forms/widgets/{name}.html"
    for name in ("checkbox", "email", "hidden", "input", "number", "password", "text", "url")
)


class InputsWritten(DjangoTemplates):
    """Django's renderer of forms, which reads no template for a plain input."""

    def render(
        self, template_name: str, context: dict[str, Any], request: HttpRequest | None = None
    ) -> SafeString:
        if template_name in INPUTS:
            return input_html(context["widget"])
        return SafeString(super().render(template_name, context, request))


def input_html(widget: Mapping[str, Any]) -> SafeString:
    """What Django's `input.html` makes of the same widget, letter by letter."""
    value = widget["value"]
    first = {"type": widget["type"], "name": widget["name"]}
    shown = {} if value is None else {"value": value}
    attributes = [_shown(name, value) for name, value in (first | shown).items()]
    attributes += [
        _attribute(name, value) for name, value in widget["attrs"].items() if value is not False
    ]
    return SafeString(f"<input{''.join(attributes)}>")


def _attribute(name: str, value: object) -> str:
    return f" {escape(name)}" if value is True else _shown(name, value)


def _shown(name: str, value: object) -> str:
    text = value if isinstance(value, SafeData) else escape(str(value))
    return f' {escape(name)}="{text}"'
