"""Addresses that filter the transcripts by what is no filter of theirs: refused, wherever they are taken along.

Django lets an address filter a list by any field of its model. Exports, queues and saved views keep the
list's own filters alone: with such an address they would have other conversations than the list showed.
"""

from collections.abc import Iterable

from django.contrib.admin.views.main import ERROR_FLAG, IGNORED_PARAMS, PAGE_VAR
from django.http import HttpRequest, QueryDict
from django.template.response import TemplateResponse

from copilot_admin.admin.transcripts.way import NEWER, OLDER
from copilot_admin.transcripts.filters.registry import BY_NAME

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
