"""Form of the list's filters."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.admin.views.main import ERROR_FLAG, IGNORED_PARAMS, PAGE_VAR
from django.http import HttpRequest, QueryDict
from django.template.response import TemplateResponse
from django.utils.html import escape
from django.utils.safestring import SafeString
from django_filters import DateFilter

from copilot_admin.admin.transcripts.way import NEWER, OLDER
from copilot_admin.transcripts.filter_conditions import Label
from copilot_admin.transcripts.filters import (
    FILTERS,
    SelectFilter,
    TranscriptFilters,
    TypedFilter,
)

# Further parameters of the list's URL.
OTHER_PARAMETERS = frozenset({*IGNORED_PARAMS, PAGE_VAR, ERROR_FLAG, OLDER, NEWER})


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One filter in the form; `control` is select, text, number or date."""

    name: str
    label: Label
    control: str
    value: str
    choices: Sequence[tuple[str, Label]]
    hint: Label
    error: str

    @property
    def shown(self) -> Label:
        """The label of the value's choice, or the typed value."""
        return dict(self.choices).get(self.value, self.value)

    @property
    def options(self) -> SafeString:
        """The choices as HTML; there may be thousands, too many for a template."""
        return SafeString("".join(self._option(*one) for one in self.choices))

    def _option(self, value: str, label: Label) -> str:
        is_select = self.control == "select"
        chosen = " selected" if value == self.value and is_select else ""
        text = escape(label) if is_select or label != value else ""
        return f'<option value="{escape(value)}"{chosen}>{text}</option>'


def build_fields(filters: TranscriptFilters) -> Sequence[Field]:
    """Return all filters with their values."""
    return [_build_field(name, filters) for name in FILTERS]


def _build_field(name: str, filters: TranscriptFilters) -> Field:
    kind = FILTERS[name]
    is_typed = isinstance(kind, TypedFilter)
    return Field(
        name=name,
        label=kind.label,
        control=_control(kind),
        value=filters.data.get(name, ""),
        choices=list(kind.field.choices()) if is_typed else [],
        hint=kind.field.hint if is_typed else "",
        error=" ".join(filters.errors.get(name, [])),
    )


def _control(kind: object) -> str:
    if isinstance(kind, SelectFilter):
        return "select"
    if isinstance(kind, TypedFilter):
        return "text"
    return "date" if isinstance(kind, DateFilter) else "number"


def find_unknown(names: Iterable[str]) -> list[str]:
    """Return the parameters that the list doesn't know."""
    return sorted(name for name in names if name not in FILTERS and name not in OTHER_PARAMETERS)


def refused_page(request: HttpRequest, query: str) -> TemplateResponse | None:
    """Return the page that rejects the query of a list; None if all of its names are known."""
    unknown = find_unknown(QueryDict(query))
    if not unknown:
        return None
    template = "admin/copilot_admin/conversation/foreign_filter.html"
    return TemplateResponse(request, template, {"name": unknown[0]}, status=400)
