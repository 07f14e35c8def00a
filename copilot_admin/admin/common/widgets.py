"""Widgets with templates of the project."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.forms.renderers import DjangoTemplates
from django.template.backends.base import BaseEngine
from django.utils.functional import Promise, cached_property
from django.utils.safestring import SafeString

Text = str | Promise


class _Renderer(DjangoTemplates):
    """Renderer that finds the project's templates and Django's."""

    @cached_property
    def engine(self) -> BaseEngine:
        return self.backend(
            {
                "APP_DIRS": True,
                "DIRS": [
                    settings.BASE_DIR / "templates",
                    Path(forms.__file__).parent / "templates",
                ],
                "NAME": "page-widgets",
                "OPTIONS": {},
            }
        )


@cache
def _renderer() -> _Renderer:
    return _Renderer()


def draw(template_name: str, context: dict[str, Any]) -> SafeString:
    """Render a template of the project like a widget."""
    return SafeString(_renderer().render(template_name, context))


class PageWidget:
    """Widget with a template of the project, whatever renderer the form has."""

    def _render(
        self, template_name: str, context: dict[str, Any], renderer: object = None
    ) -> SafeString:
        return draw(template_name, context)


class DescribedRadio(PageWidget, forms.RadioSelect):
    """Radio buttons with a description each."""

    template_name = "admin/widgets/described_choices.html"
    use_fieldset = True

    def __init__(self, descriptions: Mapping[str, Text], choices: Iterable[Any] = ()) -> None:
        super().__init__(choices=choices)
        self.descriptions = descriptions

    def create_option(self, name: str, value: Any, *rest: Any, **options: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *rest, **options)
        option["description"] = self.descriptions.get(str(value), "")
        if option["description"]:
            option["attrs"]["aria-describedby"] = f"{option['attrs'].get('id', name)}_help"
        return option


class SwitchesWidget(DescribedRadio, forms.CheckboxSelectMultiple):
    """Checkboxes with a description each."""


class DatalistInput(PageWidget, forms.TextInput):
    """Text input with suggestions."""

    template_name = "admin/widgets/datalist.html"

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__(attrs)
        self.suggestions: tuple[str, ...] = ()

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        list_id = f"{(attrs or {}).get('id', name)}_list"
        context = super().get_context(name, value, {**(attrs or {}), "list": list_id})
        context["widget"] |= {"list_id": list_id, "suggestions": self.suggestions}
        return context


class Searched(PageWidget, forms.SelectMultiple):
    """Searchable multiple choice; a plain list without JavaScript."""

    template_name = "admin/widgets/searched.html"


class SearchedOne(PageWidget, forms.Select):
    """Searchable choice; its first option is blank."""

    template_name = "admin/widgets/searched.html"
