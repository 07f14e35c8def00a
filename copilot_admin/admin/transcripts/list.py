"""Pages of the transcript list by key: the last page costs what the first costs."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.admin.views.main import SEARCH_VAR, ChangeList
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

from copilot_admin.admin.transcripts.filter_form import Field, chips_of, fields_of, foreign_in
from copilot_admin.admin.transcripts.way import NEWER, OLDER
from copilot_admin.models import Conversation
from copilot_admin.transcripts.filters.registry import BY_NAME
from copilot_admin.transcripts.search.chosen import Chosen, read_filters
from copilot_admin.transcripts.search.excerpts import excerpts
from copilot_admin.transcripts.search.finding import (
    WINDOW,
    SearchScope,
    first_rows,
    rows_anywhere,
    rows_from_newest,
    scope_of,
)
from copilot_admin.transcripts.search.phrases import MOST_PHRASES, MOST_TYPED, Typed, read_typed
from copilot_admin.transcripts.search.row_notes import errors_of, reasons_of
from copilot_admin.transcripts.search.searching import (
    WALKED,
    Bound,
    found_by_id,
    hits_in,
    is_only_named,
    search,
)
from copilot_admin.transcripts.store.search_index import MOST

COUNTED = 1_000  # above it the list says "more than": counting a million rows takes a second
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class TranscriptList(ChangeList):
    """A change list that goes on from a row instead of skipping a number of rows."""

    older_query: str | None = None
    newer_query: str | None = None
    is_bounded = False
    is_far = False
    is_least = False
    bound: Bound | None = None
    further_query: str | None = None
    looked_to: Conversation | None = None
    is_first = False
    newest_scope: SearchScope | None = None
    chosen: Chosen
    all_rows: QuerySet[Conversation]
    typed = Typed()
    walked, searched, window = WALKED, MOST, WINDOW
    most_typed, most_phrases = MOST_TYPED, MOST_PHRASES

    def get_filters_params(self, params: Any = None) -> dict[str, Any]:
        """None of Django's: the list has filters of its own.

        Raises:
            DisallowedModelAdminLookup: The address has others.
        """
        if foreign := foreign_in(params or self.filter_params):
            raise DisallowedModelAdminLookup(f"Transcripts have no filter {foreign[0]!r}")
        return {}

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Any]:
        self.chosen = read_filters(request.GET.dict())
        rows = self.all_rows = super().get_queryset(request, exclude_parameters)
        self.has_active_filters = self.has_active_filters or bool(self.chosen.values)
        return rows.filter(self.chosen.condition)

    @cached_property
    def fields(self) -> Sequence[Field]:
        """The filters as fields of a form."""
        return fields_of(self.chosen)

    @cached_property
    def chips(self) -> Sequence[tuple[Field, str]]:
        """The filters that are set, each with the address without it."""
        return [
            (one, self.get_query_string(remove=[name]))
            for name, one in chips_of(self.fields).items()
        ]

    @cached_property
    def other_params(self) -> Mapping[str, str]:
        """What the form has to keep of the address."""
        own = {SEARCH_VAR, OLDER, NEWER, *BY_NAME}
        return {name: value for name, value in self.params.items() if name not in own}

    def get_query_string(self, new_params: Any = None, remove: Any = None) -> str:
        """Links to other filters lead to the first page."""
        return super().get_query_string(new_params, [*(remove or ()), OLDER, NEWER])

    @property
    def filters_query(self) -> str:
        """The filters, as other pages take them in their address; no place in the list."""
        filters = self.get_query_string().removeprefix("?")
        return urlencode({"_changelist_filters": filters}) if filters else ""

    def get_results(self, request: HttpRequest) -> None:
        """Reads the wanted rows, and one more to know whether there are others."""
        asked = request.GET
        newer = row_key(asked.get(NEWER, ""))
        older = None if newer else row_key(asked.get(OLDER, ""))
        self.is_first = not (newer or older)
        size = self.list_per_page
        typed = self.typed = read_typed(self.query)
        named = found_by_id(typed) if typed and self.is_first else {}
        found = self._found(beside(self.all_rows, newer=newer, older=older), typed, named)
        there_is_more, rows = len(found) > size, found[:size]
        if newer:
            rows.reverse()
        self._link(
            rows,
            has_older=bool(newer) or there_is_more,
            has_newer=there_is_more if newer else bool(older),
        )
        if self.looked_to is not None and not there_is_more:
            self.further_query = self._page_query(NEWER if newer else OLDER, self.looked_to)
        self._count(rows, named, is_searched=bool(typed))
        self.result_list = [*self._rows_of(named), *(row for row in rows if row.pk not in named)]
        self._point_at_hits(typed, named)
        self._tell(self.result_list)
        self.show_full_result_count = self.show_admin_actions = False
        self.can_show_all = self.multi_page = False
        self.paginator = self.model_admin.get_paginator(request, self.queryset, size)

    def url_for_result(self, result: Model) -> str:
        """The page of a conversation, at the turn that was found and with the words marked."""
        url = super().url_for_result(result)
        turn = getattr(result, "found_turn", None)
        if not self.query:
            return url
        if turn is None:
            return f"{url}?{urlencode({'q': self.query})}"
        return f"{url}?{urlencode({'turn': turn, 'q': self.query})}#turn-{turn}"

    def _found(
        self, rows: QuerySet[Conversation], typed: Typed, named: Mapping[int, int | None]
    ) -> list[Conversation]:
        size = self.list_per_page
        if is_only_named(typed, named):
            return []
        if not typed:
            return self._filtered(rows, size)
        scope = scope_of(rows, self.chosen, window=self.window)
        page = search(rows.filter(self.chosen.condition), typed.phrases, size=size, scope=scope)
        self.bound = page.bound
        return list(page.rows)

    def _filtered(self, rows: QuerySet[Conversation], size: int) -> list[Conversation]:
        found = first_rows(rows, self.chosen, size=size)
        if len(found) > size or not self.chosen.needs_bound:
            return found
        scope = scope_of(rows, self.chosen, window=self.window)
        if self.is_first:
            self.newest_scope = scope
        if scope.end is None:
            return list(scope.rows[: size + 1])
        far = rows_from_newest(rows, self.chosen, size=size, is_behind=not self.is_first)
        if far is None and (anywhere := rows_anywhere(rows, self.chosen)) is not None:
            far = list(anywhere[: size + 1])
        if far is not None:
            self.is_far = True
            return far
        self.looked_to = scope.end
        return list(scope.rows[: size + 1])

    def _rows_of(self, named: Mapping[int, int | None]) -> list[Conversation]:
        rows = self.root_queryset.select_related("copilot", "user").filter(pk__in=named)
        return list(rows.order_by("-last_at", "-id")) if named else []

    def _count(
        self, rows: Sequence[Conversation], named: Mapping[int, int | None], *, is_searched: bool
    ) -> None:
        if is_searched:
            counted = len({*named, *(row.pk for row in rows)})
            self.is_bounded = bool(self.older_query or self.newer_query)
        elif self.is_far:  # among the newest there are none to count
            counted = len(rows)
            self.is_least = bool(self.older_query or self.newer_query)
        else:
            newest = beside(self.all_rows, newer=None, older=None)
            scope = self.newest_scope or scope_of(newest, self.chosen, window=self.window)
            counted = max(scope.rows.order_by()[: COUNTED + 1].count(), len(rows))
            self.is_bounded = counted > COUNTED
            is_whole = not (self.older_query or self.newer_query or self.looked_to)
            self.is_least = scope.end is not None and not is_whole
        self.result_count = self.full_result_count = min(counted, COUNTED)

    def _point_at_hits(self, typed: Typed, named: Mapping[int, int | None]) -> None:
        if not typed:
            return
        hits = hits_in([row.pk for row in self.result_list], typed.phrases)
        words = excerpts([hit.turn_id for hit in hits.values()], typed.phrases)
        for row in self.result_list:
            hit = hits.get(row.pk)
            row.found_by_id = row.pk in named
            row.found_turn = named.get(row.pk) or (hit.turn_id if hit else None)
            row.found_turns = hit.turns if hit else 0
            row.excerpt = words.get(hit.turn_id, ()) if hit else ()

    def _tell(self, rows: Sequence[Any]) -> None:
        reasons, errors = reasons_of(rows), errors_of(rows)
        for row in rows:
            row.reasons, row.errors = reasons.get(row.pk, ()), errors.get(row.pk, ())

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


def beside(
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
