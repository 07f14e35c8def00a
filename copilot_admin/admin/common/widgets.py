"""Widgets, form fields and pieces of HTML that several pages share: icons, chips and times."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from typing import Any

from django import forms
from django.contrib import admin
from django.http import QueryDict
from django.templatetags.static import static
from django.utils import formats, timezone
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from copilot_admin.copilots.config_types import bidi_fault

Text = str | Promise


class DescribedRadio(forms.RadioSelect):
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


class DatalistInput(forms.TextInput):
    template_name = "admin/widgets/datalist.html"

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__(attrs)
        self.suggestions: tuple[str, ...] = ()

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        list_id = f"{(attrs or {}).get('id', name)}_list"
        context = super().get_context(name, value, {**(attrs or {}), "list": list_id})
        context["widget"] |= {"list_id": list_id, "suggestions": self.suggestions}
        return context


class Searched(forms.SelectMultiple):
    template_name = "admin/widgets/searched.html"


class SearchedOne(forms.Select):
    """Searchable choice; its first option is blank."""

    template_name = "admin/widgets/searched.html"


def with_plain_newlines(data: QueryDict) -> QueryDict:
    """Return form data with the line ends of Unix instead of those that browsers send.

    Otherwise saving a text from a file would change all its lines.
    """
    plain = data.copy()
    for name, values in data.lists():
        plain.setlist(name, [value.replace("\r\n", "\n") for value in values])
    return plain


def reject_bidi_controls(text: str) -> None:
    if wrong := bidi_fault(text):
        raise forms.ValidationError(capfirst(wrong))


def describe_errors(form: forms.BaseForm) -> str:
    """Return the errors of a form in one line, with the labels of their fields."""
    texts = []
    for name, sentences in form.errors.items():
        label = f"{form.fields[name].label}: " if name in form.fields else ""
        texts.append(f"{label}{' '.join(map(str, sentences))}")
    return " ".join(texts)


class SeveralFiles(forms.FileInput):
    allow_multiple_selected = True


class UploadsField(forms.FileField):
    """Field for several files, each validated like one."""

    widget = SeveralFiles

    def clean(self, data: Any, initial: Any = None) -> Any:
        clean = super().clean
        return [clean(one, initial) for one in data or [None]]


def icon(name: str, label: str = "", classes: str = "") -> SafeString:
    """Return a symbol of `img/icons.svg`; without a label, screen readers skip it."""
    url = f"{static('copilot_admin/img/icons.svg')}#i-{name}"
    classes = f"ca-icon {classes}".strip()
    if label:
        return format_html(
            '<svg class="{}" role="img" aria-label="{}"><title>{}</title><use href="{}"/></svg>',
            classes, label, label, url,
        )  # fmt: skip
    return format_html('<svg class="{}" aria-hidden="true"><use href="{}"/></svg>', classes, url)


def chip(label: str | Promise, tone: str = "") -> SafeString:
    """Return a state; tones are good, warn, bad, info and accent."""
    return format_html(
        '<span class="ca-chip ca-chip--dot{}">{}</span>', f" ca-chip--{tone}" if tone else "", label
    )


def format_time(value: datetime | date | None, style: str = "") -> SafeString | str:
    """Return a `<time>` in the reader's time zone; "" if there is no value.

    Styles: "short" for lists (the time today, the day otherwise), "date" for the day alone.
    """
    if value is None:
        return ""
    if not isinstance(value, datetime):
        day = formats.date_format(value, "j M Y")
        return format_html('<time datetime="{}">{}</time>', value.isoformat(), day)
    local = timezone.localtime(value)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        value.isoformat(timespec="seconds"),
        f"{formats.date_format(local, 'j M Y H:i:s')} {local:%Z}",
        formats.date_format(local, _time_format(local, style)),
    )


def time_column(
    name: str, label: Any, *, style: str = "", blank: Text = ""
) -> Callable[[Any, Any], SafeString | str]:
    """Return a column of a change list that shows a time in the reader's time zone."""

    @admin.display(description=label, ordering=name)
    def format_column(_admin: Any, row: Any) -> SafeString | str:
        return format_time(getattr(row, name), style) or str(blank)

    return format_column


def _time_format(local: datetime, style: str) -> str:
    if style == "date":
        return "j M Y"
    if style != "short":
        return "j M Y H:i"
    now = timezone.localtime()
    if local.date() == now.date():
        return "H:i"
    return "j M" if local.year == now.year else "j M Y"
