"""Form of the list's filters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.contrib.admin.views.main import ERROR_FLAG, IGNORED_PARAMS, PAGE_VAR
from django.http import HttpRequest, QueryDict
from django.template.response import TemplateResponse
from django.utils.html import escape
from django.utils.safestring import SafeString

from copilot_admin.admin.transcripts.way import NEWER, OLDER
from copilot_admin.transcripts.filters.filter import FilterControl, Label, TranscriptFilter
from copilot_admin.transcripts.filters.registry import BY_NAME, FILTERS
from copilot_admin.transcripts.search.chosen import Chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One filter in the form."""

    filter: TranscriptFilter
    value: str
    choices: Sequence[tuple[str, Label]]
    is_unknown: bool
    ends_too_early: bool

    @property
    def shown(self) -> Label:
        """The value in the words of its choice."""
        return self.filter.shown(self.value, self.choices)

    @property
    def options(self) -> SafeString:
        """The choices as HTML: there may be thousands, and a template takes long for each."""
        is_list = self.filter.widget is FilterControl.TYPED
        return SafeString("".join(self._option(*one, is_list=is_list) for one in self.choices))

    def _option(self, value: str, label: Label, *, is_list: bool) -> str:
        chosen = " selected" if value == self.value and not is_list else ""
        text = "" if is_list and label == value else escape(label)
        return f'<option value="{escape(value)}"{chosen}>{text}</option>'


def fields_of(chosen: Chosen) -> Sequence[Field]:
    """All filters, with what is chosen."""
    turned_round = chosen.turned_round
    return [
        Field(
            filter=one,
            value=chosen.values.get(one.name, ""),
            choices=list(one.choices()) if one.widget in _LISTED else [],
            is_unknown=one in chosen.unknown,
            ends_too_early=one in turned_round,
        )
        for one in FILTERS
    ]


def chips_of(fields: Sequence[Field]) -> Mapping[str, Field]:
    """The filters that are set, by name."""
    return {field.filter.name: field for field in fields if field.value}


_LISTED = frozenset({FilterControl.CHOICE, FilterControl.TYPED})


# What a list's address says beside its filters.
BESIDE = frozenset({*IGNORED_PARAMS, PAGE_VAR, ERROR_FLAG, OLDER, NEWER})


def foreign_in(names: Iterable[str]) -> list[str]:
    """Those names of an address that the list does not know."""
    return sorted(name for name in names if name not in BY_NAME and name not in BESIDE)


def refused_page(request: HttpRequest, query: str) -> TemplateResponse | None:
    """The page that refuses the query of a list; None where all of its names are known."""
    foreign = foreign_in(QueryDict(query))
    if not foreign:
        return None
    template = "admin/copilot_admin/conversation/foreign_filter.html"
    return TemplateResponse(request, template, {"name": foreign[0]}, status=400)
