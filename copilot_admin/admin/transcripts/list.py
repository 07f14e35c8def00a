"""Pages of the transcript list by key: the last page costs what the first costs."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.admin.views.main import ChangeList
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from copilot_admin.models import Conversation

OLDER, NEWER = "older", "newer"
COUNTED = 1_000  # above it the list says "more than": counting a million rows takes a second
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class TranscriptList(ChangeList):
    """A change list that goes on from a row instead of skipping a number of rows."""

    older_query: str | None = None
    newer_query: str | None = None
    is_bounded = False

    def get_filters_params(self, params: Any = None) -> dict[str, Any]:
        """The filters; where the reader is in the list is none."""
        given = super().get_filters_params(params)
        return {name: value for name, value in given.items() if name not in (OLDER, NEWER)}

    def get_query_string(self, new_params: Any = None, remove: Any = None) -> str:
        """Links to other filters lead to the first page."""
        return super().get_query_string(new_params, [*(remove or ()), OLDER, NEWER])

    def get_results(self, request: HttpRequest) -> None:
        """Reads the wanted rows, and one more to know whether there are others."""
        asked = request.GET
        newer = row_key(asked.get(NEWER, ""))
        older = None if newer else row_key(asked.get(OLDER, ""))
        size = self.list_per_page
        found = list(_beside(self.queryset, newer=newer, older=older)[: size + 1])
        there_is_more, rows = len(found) > size, found[:size]
        if newer:
            rows.reverse()
        self._link(
            rows,
            has_older=bool(newer) or there_is_more,
            has_newer=there_is_more if newer else bool(older),
        )
        counted = self.queryset.order_by()[: COUNTED + 1].count()
        self.is_bounded = counted > COUNTED
        self.result_list = rows
        self.result_count = self.full_result_count = min(counted, COUNTED)
        self.show_full_result_count = self.show_admin_actions = False
        self.can_show_all = self.multi_page = False
        self.paginator = self.model_admin.get_paginator(request, self.queryset, size)

    def _link(self, rows: list[Conversation], *, has_older: bool, has_newer: bool) -> None:
        if rows and has_older:
            self.older_query = self._page_query(OLDER, rows[-1])
        if rows and has_newer:
            self.newer_query = self._page_query(NEWER, rows[0])

    def _page_query(self, direction: str, row: Conversation) -> str:
        return super().get_query_string({direction: key_of(row)}, [OLDER, NEWER])


def key_of(row: Conversation) -> str:
    """The key of a row by which the next page begins after it."""
    return f"{(row.last_at - EPOCH) // MICROSECOND}-{row.pk}"


def row_key(text: str) -> tuple[datetime, int] | None:
    """The place that a key names; None when it is none."""
    at, _, pk = text.partition("-")
    if not (at.isdecimal() and pk.isdecimal() and len(text) <= 40):
        return None
    try:
        return EPOCH + int(at) * MICROSECOND, int(pk)
    except OverflowError:
        return None


def _beside(
    rows: QuerySet[Conversation],
    *,
    newer: tuple[datetime, int] | None,
    older: tuple[datetime, int] | None,
) -> QuerySet[Conversation]:
    """The rows on one side of a place, nearest first; the newest without one."""
    if newer is not None:
        at, pk = newer
        rows = rows.filter(Q(last_at__gt=at) | Q(last_at=at, pk__gt=pk), last_at__gte=at)
        return rows.order_by("last_at", "id")
    if older is not None:
        at, pk = older
        rows = rows.filter(Q(last_at__lt=at) | Q(last_at=at, pk__lt=pk), last_at__lte=at)
    return rows.order_by("-last_at", "-id")
