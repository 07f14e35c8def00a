"""Conversations of a filtered list for other pages: the neighbours of one, and all of them."""

from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict

from copilot_admin.admin.common.base import BaseAdmin
from copilot_admin.admin.transcripts.filter_form import find_unknown
from copilot_admin.admin.transcripts.list import (
    LIST_SECONDS,
    format_row_key,
    order_from,
    parse_row_key,
)
from copilot_admin.admin.transcripts.way import NEWER, OLDER
from copilot_admin.models import Conversation
from copilot_admin.review.queues import MOST_DRAWN_FROM
from copilot_admin.storage.time_limit import TooSlowError, time_limit
from copilot_admin.transcripts.filters import read_filters
from copilot_admin.transcripts.search.conversations import find_by_id, is_only_id, search
from copilot_admin.transcripts.search.phrases import parse_search
from copilot_admin.transcripts.search.saved_views import SEARCH_PARAMETER

MAX_SEARCHED = 2000  # conversations that are taken from a search; the newest of them


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The conversation in a direction; `is_whole` is False if not all of the list was read."""

    pk: int | None = None
    is_whole: bool = True


def find_neighbour(
    page: BaseAdmin[Conversation],
    request: HttpRequest,
    conversation: Conversation,
    *,
    filters: str,
    direction: str,
    place: str = "",
) -> Neighbour:
    """Return the next conversation in a direction; none at the end, or for filters that aren't valid.

    Args:
        page: Of the list.
        request: Of the reader.
        conversation: The current one.
        filters: Of the list, as its URL has them.
        direction: `OLDER` or `NEWER`.
        place: Where it stood in the list; without one, where it stands now.
    """
    listed = _read_list(page, request, filters)
    if listed is None:
        return Neighbour()
    key = parse_row_key(place_of(conversation, place))
    rows, words = listed[0].exclude(pk=conversation.pk), parse_search(listed[1])
    named = find_by_id(words) if words else {}
    if is_only_id(words, named):
        rows = rows.filter(pk__in=named)
    rows = order_from(
        rows,
        newer=key if direction == NEWER else None,
        older=key if direction == OLDER else None,
    )
    try:
        with time_limit(LIST_SECONDS):
            if words and not is_only_id(words, named):
                results = search(rows, words.phrases, size=1)
                found = next((one.pk for one in results.rows), None)
                return Neighbour(found, is_whole=results.limit is None)
            return Neighbour(rows.values_list("pk", flat=True).first())
    except TooSlowError:
        return Neighbour(is_whole=False)


def place_of(conversation: Conversation, place: str) -> str:
    """Return the kept place of a conversation, else its present one."""
    kept = parse_row_key(place)
    return place if kept and kept[1] == conversation.pk else format_row_key(conversation)


def rows_of_list(
    page: BaseAdmin[Conversation], request: HttpRequest, filters: str
) -> QuerySet[Conversation] | None:
    """Return the conversations that a list shows with these filters; None if they aren't valid."""
    listed = _read_list(page, request, filters)
    if listed is None:
        return None
    rows, words = listed[0], parse_search(listed[1])
    if not words:
        return rows
    named = find_by_id(words)
    found = {*named}
    if not is_only_id(words, named):
        results = search(order_from(rows), words.phrases, size=MAX_SEARCHED)
        found |= {one.pk for one in results.rows}
    every: QuerySet[Conversation] = page.get_queryset(request)
    return every.filter(pk__in=found)


def newest_ids(rows: QuerySet[Conversation]) -> list[int]:
    """Return the newest conversations of a list, as many as are ever needed."""
    newest = rows.order_by("-last_at", "-id").values_list("pk", flat=True)
    return list(newest[:MOST_DRAWN_FROM])


def _read_list(
    page: BaseAdmin[Conversation], request: HttpRequest, filters: str
) -> tuple[QuerySet[Conversation], str] | None:
    given = QueryDict(filters).dict()
    words = given.pop(SEARCH_PARAMETER, "")
    if find_unknown(given):
        return None
    rows: QuerySet[Conversation] = page.get_queryset(request)
    return read_filters(given).apply(rows), words
