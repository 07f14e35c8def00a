"""An input is written as Django's templates have it, whatever somebody typed into it."""

from typing import Any

from django import forms
from django.forms.renderers import DjangoTemplates, get_default_renderer
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy
import pytest

from copilot_admin.rendering.inputs import INPUTS, InputsWritten

HOSTILE = "\"><script>alert('&amp;')</script>{{ x }}\n\u202e"
WIDGETS = [
    forms.TextInput, forms.NumberInput, forms.EmailInput, forms.URLInput, forms.HiddenInput,
    forms.CheckboxInput,
]  # fmt: skip


@pytest.mark.parametrize("widget", [*WIDGETS, lambda: forms.PasswordInput(render_value=True)])
@pytest.mark.parametrize("value", [None, "", HOSTILE, 0, 1.5, True, mark_safe("&amp;")])
def test_an_input_is_what_the_template_makes_of_it(widget: Any, value: object) -> None:
    attrs = {
        "id": "id_x",
        "checked": True,
        "required": False,
        "maxlength": 12,
        "data-none": None,
        "data-safe": mark_safe("&lt;"),
        "title": gettext_lazy("Remove"),
        "data-typed": HOSTILE,
        '"><b': "x",
    }
    drawn = [
        widget().render(HOSTILE, value, attrs, renderer=renderer)
        for renderer in (InputsWritten(), DjangoTemplates())
    ]
    assert drawn[0] == drawn[1]
    assert "<script>" not in drawn[0]


@pytest.mark.parametrize("name", sorted(INPUTS))
def test_only_what_is_nothing_but_an_input_is_written(name: str) -> None:
    source = DjangoTemplates().get_template(name).template.source.strip()
    plain = "django/forms/widgets/input.html"
    assert name == plain or source == f'{{% include "{plain}" %}}'


def test_forms_are_drawn_so() -> None:
    assert isinstance(get_default_renderer(), InputsWritten)
