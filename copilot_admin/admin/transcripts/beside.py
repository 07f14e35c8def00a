"""The conversation before or after one in a filtered list, found by key and not by a list of ids."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import SuspiciousOperation
from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict

from copilot_admin.admin.common.generics import ConversationModelAdmin
from copilot_admin.admin.transcripts.list import (
    TranscriptList,
    beside,
    key_of,
    row_key,
)
from copilot_admin.admin.transcripts.way import NEWER, OLDER
from copilot_admin.models import Conversation
from copilot_admin.review.queues import MOST_DRAWN_FROM
from copilot_admin.transcripts.search.finding import (
    SearchScope,
    rows_anywhere,
    rows_from_newest,
    scope_of,
)
from copilot_admin.transcripts.search.phrases import read_typed
from copilot_admin.transcripts.search.searching import found_by_id, is_only_named, search

MOST_WINDOWS = 4  # that one press of a key looks through
MOST_SEARCHED = 2000  # conversations that are taken along from a search; the newest of them


@dataclass(frozen=True, slots=True)
class Neighbour:
    """What was found in a direction.

    Attributes:
        pk: Of the conversation; None: there was none as far as was looked.
        is_whole: Whether all of the list was looked through in this direction.
    """

    pk: int | None = None
    is_whole: bool = True


class _OnlyRows(TranscriptList):
    """The list's filters without a page of it."""

    def get_results(self, request: HttpRequest) -> None:
        """Reads nothing: the list beside a page has read its rows itself."""


def conversation_beside(
    page: ConversationModelAdmin,
    request: HttpRequest,
    conversation: Conversation,
    *,
    filters: str,
    direction: str,
    place: str = "",
) -> Neighbour:
    """The next conversation in a direction; none at the end, and where the filters mean nothing.

    Args:
        page: Of the list.
        request: Whose list it is.
        conversation: From which one goes on.
        filters: Of the list, as its address has them.
        direction: `OLDER` or `NEWER`.
        place: Where it stood in the list; without one, where it stands now.
    """
    try:
        shown = _list(page, request, filters)
    except (IncorrectLookupParameters, SuspiciousOperation):
        return Neighbour()
    key = row_key(place_of(conversation, place))
    for _ in range(MOST_WINDOWS):
        rows = _from(shown.all_rows.exclude(pk=conversation.pk), key, direction)
        scope = scope_of(rows, shown.chosen, window=shown.window)
        found = _first(rows, scope, shown)
        if found is not None or scope.end is None:
            return Neighbour(found)
        far = None if shown.query else rows_from_newest(rows, shown.chosen, size=0)
        if far:
            return Neighbour(far[0].pk)
        anywhere = None if shown.query else rows_anywhere(rows, shown.chosen)
        if anywhere is not None:
            return Neighbour(anywhere.values_list("pk", flat=True).first())
        key = (scope.end.last_at, scope.end.pk)
    return Neighbour(is_whole=False)


def _from(
    rows: QuerySet[Conversation], key: tuple[datetime, int] | None, direction: str
) -> QuerySet[Conversation]:
    return beside(
        rows,
        newer=key if direction == NEWER else None,
        older=key if direction == OLDER else None,
    )


def _first(rows: QuerySet[Conversation], scope: SearchScope, shown: _OnlyRows) -> int | None:
    typed = read_typed(shown.query)
    if not typed:
        return scope.rows.values_list("pk", flat=True).first()
    named = found_by_id(typed)
    if is_only_named(typed, named):
        return rows.filter(pk__in=named).values_list("pk", flat=True).first()
    passing = rows.filter(shown.chosen.condition)
    found = search(passing, typed.phrases, size=1, scope=scope).rows
    return next((one.pk for one in found), None)


def place_of(conversation: Conversation, place: str) -> str:
    """The place that was kept of a conversation, else the one that it has now."""
    kept = row_key(place)
    return place if kept and kept[1] == conversation.pk else key_of(conversation)


def rows_of_list(
    page: ConversationModelAdmin, request: HttpRequest, filters: str
) -> QuerySet[Conversation] | None:
    """The conversations that a list shows with these filters; None where they mean nothing."""
    try:
        shown = _list(page, request, filters)
    except (IncorrectLookupParameters, SuspiciousOperation):
        return None
    rows: QuerySet[Conversation] = shown.queryset
    typed = read_typed(shown.query)
    if not typed:
        return rows
    named = found_by_id(typed)
    found = {*named}
    if not is_only_named(typed, named):
        newest = beside(shown.all_rows, newer=None, older=None)
        scope, passing = scope_of(newest, shown.chosen), newest.filter(shown.chosen.condition)
        found |= {
            one.pk for one in search(passing, typed.phrases, size=MOST_SEARCHED, scope=scope).rows
        }
    every: QuerySet[Conversation] = shown.root_queryset
    return every.filter(pk__in=found)


def newest_ids(rows: QuerySet[Conversation]) -> list[int]:
    """The newest conversations of a list, as many as are ever wanted.

    Whoever wants few asks for as many too: for few PostgreSQL looks up the requests of one conversation after the
    other, for many those of the filter once.
    """
    newest = rows.order_by("-last_at", "-id").values_list("pk", flat=True)
    return list(newest[:MOST_DRAWN_FROM])


def _list(page: ConversationModelAdmin, request: HttpRequest, filters: str) -> _OnlyRows:
    # Of a NUL in the words Django would tell the reader, who does not look at this list.
    plain = filters.replace("%00", "").replace("\0", "")
    asked: Any = HttpRequest()
    stock: Any = page  # what the stubs know of its attributes is narrower than what it takes
    asked.GET, asked.user, asked.path, asked.META = (
        QueryDict(plain),
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
