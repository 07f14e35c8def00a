"""The conversation before or after one in a filtered list, found by key and not by a list of ids."""

from typing import Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import SuspiciousOperation
from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict

from copilot_admin.admin.common.generics import ConversationModelAdmin
from copilot_admin.admin.transcripts.list import NEWER, OLDER, TranscriptList, beside
from copilot_admin.models import Conversation


class _OnlyRows(TranscriptList):
    """The list's filters without a page of it."""

    def get_results(self, request: HttpRequest) -> None:
        """Reads nothing."""


def conversation_beside(
    page: ConversationModelAdmin,
    request: HttpRequest,
    conversation: Conversation,
    *,
    filters: str,
    direction: str,
) -> int | None:
    """The next conversation in a direction; None at the end, and where the filters mean nothing."""
    rows = rows_of_list(page, request, filters)
    if rows is None:
        return None
    place = (conversation.last_at, conversation.pk)
    found = beside(
        rows,
        newer=place if direction == NEWER else None,
        older=place if direction == OLDER else None,
    )
    return found.values_list("pk", flat=True).first()


def rows_of_list(
    page: ConversationModelAdmin, request: HttpRequest, filters: str
) -> QuerySet[Conversation] | None:
    """The conversations that a list shows with these filters; None where they mean nothing."""
    try:
        rows: QuerySet[Conversation] = _list(page, request, filters).queryset
    except (IncorrectLookupParameters, SuspiciousOperation):
        return None
    return rows


def _list(page: ConversationModelAdmin, request: HttpRequest, filters: str) -> _OnlyRows:
    asked: Any = HttpRequest()
    stock: Any = page  # what the stubs know of its attributes is narrower than what it takes
    asked.GET, asked.user, asked.path, asked.META = (
        QueryDict(filters),
        request.user,
        request.path,
        request.META,
    )
    return _OnlyRows(
        asked,
        stock.model,
        stock.list_display,
        stock.list_display_links,
        stock.get_list_filter(asked),
        stock.date_hierarchy,
        stock.get_search_fields(asked),
        stock.list_select_related,
        stock.list_per_page,
        stock.list_max_show_all,
        stock.list_editable,
        page,
        stock.get_sortable_by(asked),
        stock.search_help_text,
    )
