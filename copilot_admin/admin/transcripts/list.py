"""The transcript list with keyset pagination: the last page costs what the first costs."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.admin.views.main import SEARCH_VAR, ChangeList
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

from copilot_admin.admin.transcripts.filter_form import Field, build_fields, find_unknown
from copilot_admin.admin.transcripts.way import NEWER, OLDER
from copilot_admin.models import Conversation
from copilot_admin.storage.time_limit import TooSlowError, time_limit
from copilot_admin.transcripts.filters import FILTERS, TranscriptFilters, read_filters
from copilot_admin.transcripts.search.conversations import (
    MAX_CONVERSATIONS,
    SearchLimit,
    find_by_id,
    find_hits,
    is_only_id,
    search,
)
from copilot_admin.transcripts.search.phrases import (
    MAX_PHRASES,
    MAX_TYPED,
    SearchQuery,
    parse_search,
)
from copilot_admin.transcripts.search.row_details import load_errors, load_excerpts, load_reasons
from copilot_admin.transcripts.store.search_index import MAX_CHARACTERS

LIST_SECONDS = 2.5  # below the limit of PostgreSQL's connections
COUNT_SECONDS = 0.05
MAX_COUNT = 1_000  # above it the list says "more than": counting a million rows takes a second
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class TranscriptList(ChangeList):
    """A change list that continues after a row instead of skipping a number of rows."""

    older_query: str | None = None
    newer_query: str | None = None
    is_bounded = False  # there are more than were counted
    is_too_slow = False
    search_limit: SearchLimit | None = None
    filters: TranscriptFilters
    all_rows: QuerySet[Conversation]
    search_query = SearchQuery()
    max_searched, searched_characters = MAX_CONVERSATIONS, MAX_CHARACTERS
    max_typed, max_phrases = MAX_TYPED, MAX_PHRASES

    def get_filters_params(self, params: Any = None) -> dict[str, Any]:
        """Return no filters for Django; the list has its own.

        Raises:
            DisallowedModelAdminLookup: The URL has others.
        """
        if unknown := find_unknown(params or self.filter_params):
            raise DisallowedModelAdminLookup(f"Transcripts have no filter {unknown[0]!r}")
        return {}

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Any]:
        self.filters = read_filters(request.GET.dict())
        self.all_rows = super().get_queryset(request, exclude_parameters)
        self.has_active_filters = self.has_active_filters or bool(self.filters.data)
        return self.filters.apply(self.all_rows)

    @cached_property
    def fields(self) -> Sequence[Field]:
        """The filters as fields of a form."""
        return build_fields(self.filters)

    @cached_property
    def chips(self) -> Sequence[tuple[Field, str]]:
        """The filters that are set, each with the URL without it."""
        return [
            (field, self.get_query_string(remove=[field.name]))
            for field in self.fields
            if field.value
        ]

    @cached_property
    def other_params(self) -> Mapping[str, str]:
        """Parameters of the URL that the form keeps."""
        own = {SEARCH_VAR, OLDER, NEWER, *FILTERS}
        return {name: value for name, value in self.params.items() if name not in own}

    def get_query_string(self, new_params: Any = None, remove: Any = None) -> str:
        """Return the query of a link to the first page with other filters."""
        return super().get_query_string(new_params, [*(remove or ()), OLDER, NEWER])

    @property
    def filters_query(self) -> str:
        """The filters as other pages take them in their URL."""
        filters = self.get_query_string().removeprefix("?")
        return urlencode({"_changelist_filters": filters}) if filters else ""

    def get_results(self, request: HttpRequest) -> None:
        """Read the rows of the page, and one more to know whether there are others."""
        newer = parse_row_key(request.GET.get(NEWER, ""))
        older = None if newer else parse_row_key(request.GET.get(OLDER, ""))
        is_first = not (newer or older)
        query = self.search_query = parse_search(self.query)
        named = find_by_id(query) if query and is_first else {}
        try:
            with time_limit(LIST_SECONDS):
                found = self._find(order_from(self.queryset, newer=newer, older=older), named)
        except TooSlowError:
            found, self.is_too_slow = [], True
        there_is_more, rows = len(found) > self.list_per_page, found[: self.list_per_page]
        if newer:
            rows.reverse()
        if rows and (newer or there_is_more):
            self.older_query = self._page_query(OLDER, rows[-1])
        if rows and (there_is_more if newer else older):
            self.newer_query = self._page_query(NEWER, rows[0])
        self._count(rows, named)
        self.result_list = [*self._load(named), *(row for row in rows if row.pk not in named)]
        self._add_details(self.result_list, named)
        self.show_full_result_count = self.show_admin_actions = False
        self.can_show_all = self.multi_page = False
        self.paginator = self.model_admin.get_paginator(request, self.queryset, self.list_per_page)

    def url_for_result(self, result: Model) -> str:
        """Return the page of a conversation, at the turn that was found and with the words marked."""
        url = super().url_for_result(result)
        turn = getattr(result, "found_turn", None)
        if not self.query:
            return url
        if turn is None:
            return f"{url}?{urlencode({'q': self.query})}"
        return f"{url}?{urlencode({'turn': turn, 'q': self.query})}#turn-{turn}"

    def _find(
        self, rows: QuerySet[Conversation], named: Mapping[int, int | None]
    ) -> list[Conversation]:
        if is_only_id(self.search_query, named):
            return []
        if not self.search_query:
            return list(rows[: self.list_per_page + 1])
        results = search(rows, self.search_query.phrases, size=self.list_per_page)
        self.search_limit = results.limit
        return list(results.rows)

    def _load(self, named: Mapping[int, int | None]) -> list[Conversation]:
        rows = self.root_queryset.select_related("copilot", "user").filter(pk__in=named)
        return list(rows.order_by("-last_at", "-id")) if named else []

    def _count(self, rows: Sequence[Conversation], named: Mapping[int, int | None]) -> None:
        counted = len({*named, *(row.pk for row in rows)})
        self.is_bounded = bool(self.older_query or self.newer_query)
        if self.is_bounded and not self.search_query:
            try:
                with time_limit(COUNT_SECONDS):
                    counted = self.queryset.order_by()[: MAX_COUNT + 1].count()
                self.is_bounded = counted > MAX_COUNT
            except TooSlowError:
                pass
        self.result_count = self.full_result_count = min(counted, MAX_COUNT)

    def _add_details(self, rows: Sequence[Any], named: Mapping[int, int | None]) -> None:
        reasons, errors = load_reasons(rows), load_errors(rows)
        for row in rows:
            row.reasons, row.errors = reasons.get(row.pk, ()), errors.get(row.pk, ())
        if not self.search_query:
            return
        phrases = self.search_query.phrases
        hits = find_hits([row.pk for row in rows], phrases)
        excerpts = load_excerpts([hit.turn_id for hit in hits.values()], phrases)
        for row in rows:
            hit = hits.get(row.pk)
            row.found_by_id = row.pk in named
            row.found_turn = named.get(row.pk) or (hit.turn_id if hit else None)
            row.found_turns = hit.turns if hit else 0
            row.excerpt = excerpts.get(hit.turn_id, ()) if hit else ()

    def _page_query(self, direction: str, row: Conversation) -> str:
        return super().get_query_string({direction: format_row_key(row)}, [OLDER, NEWER])


def format_row_key(row: Conversation) -> str:
    """Return the key of a row after which a page begins."""
    return f"{(row.last_at - EPOCH) // MICROSECOND}-{row.pk}"


def parse_row_key(text: str) -> tuple[datetime, int] | None:
    """Return the place that a key names; None if it isn't a key."""
    at, _, pk = text.partition("-")
    if not (at.isdecimal() and pk.isdecimal() and len(text) <= 40):
        return None
    try:
        return EPOCH + int(at) * MICROSECOND, int(pk)
    except OverflowError:
        return None


def order_from(
    rows: QuerySet[Conversation],
    *,
    newer: tuple[datetime, int] | None = None,
    older: tuple[datetime, int] | None = None,
) -> QuerySet[Conversation]:
    """Return the rows on one side of a place, nearest first; the newest without one."""
    if newer is not None:
        at, pk = newer
        rows = rows.filter(Q(last_at__gt=at) | Q(last_at=at, pk__gt=pk), last_at__gte=at)
        return rows.order_by("last_at", "id")
    if older is not None:
        at, pk = older
        rows = rows.filter(Q(last_at__lt=at) | Q(last_at=at, pk__lt=pk), last_at__lte=at)
    return rows.order_by("-last_at", "-id")
