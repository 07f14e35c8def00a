"""Conversations selected by the filters and search of a URL, with keyset pagination."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Self

from django.db.models import Q, QuerySet

from copilot_admin.models import Conversation
from copilot_admin.storage.errors import count_rows, time_limit
from copilot_admin.transcripts.filters import read_filters
from copilot_admin.transcripts.search.conversations import find_by_id, is_only_id, search
from copilot_admin.transcripts.search.saved_views import SEARCH_PARAMETER
from copilot_admin.transcripts.search.text_index import parse_search

SORT_PARAMETER, OLDEST_FIRST = "sort", "oldest"
LIST_SECONDS = 2.5  # below the limit of PostgreSQL's connections
MAX_SELECTED = 50_000  # conversations of one selection, such as for a review queue
MAX_SEARCHED = 2_000  # of a selection by text search
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class RowKey(NamedTuple):
    at: datetime
    pk: int

    @classmethod
    def of(cls, row: Conversation) -> Self:
        return cls(row.last_at, row.pk)

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the position in a URL, or None if it isn't valid."""
        at, _, pk = text.partition("-")
        if not (at.isdecimal() and pk.isdecimal() and len(text) <= 40):
            return None
        try:
            return cls(EPOCH + int(at) * MICROSECOND, int(pk))
        except OverflowError:
            return None

    def __str__(self) -> str:
        return f"{(self.at - EPOCH) // MICROSECOND}-{self.pk}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage:
    """Rows of a page; `named` ones were found by id, with the turn of a run's id."""

    rows: Sequence[Conversation] = ()
    named: Mapping[int, int | None] = field(default_factory=dict)
    has_previous: bool = False
    has_next: bool = False
    is_limited: bool = False


class ConversationList:
    """The visible conversations that match a URL's filters and search."""

    def __init__(self, visible: QuerySet[Conversation], params: Mapping[str, str]) -> None:
        self.filters = read_filters(params)
        self.query = parse_search(params.get(SEARCH_PARAMETER, ""))
        self.is_oldest_first = params.get(SORT_PARAMETER) == OLDEST_FIRST
        self.rows = self.filters.apply(visible)
        self._visible = visible

    def read_page(
        self, *, size: int, after: RowKey | None = None, before: RowKey | None = None
    ) -> ListPage:
        """Read the rows after or before a position, or the first ones; may raise TooSlowError."""
        is_first = after is None and before is None
        named = find_by_id(self.query, self._visible) if self.query and is_first else {}
        with time_limit(LIST_SECONDS):
            found, is_limited = self._find(
                self._order(after=after, before=before), named, size=size
            )
        has_more, rows = len(found) > size, found[:size]
        if before:
            rows.reverse()
        rows = [row for row in rows if row.pk not in named]
        if named:
            by_id = self._visible.select_related("copilot", "user").filter(pk__in=named)
            rows = [*by_id.order_by("-last_at", "-id"), *rows]
        return ListPage(
            rows=rows,
            named=named,
            has_previous=bool(rows) and (has_more if before else after is not None),
            has_next=bool(rows) and (before is not None or has_more),
            is_limited=is_limited,
        )

    def find_neighbour(self, key: RowKey, *, is_next: bool) -> int | None:
        """Return the conversation next to a position, or None; may raise TooSlowError."""
        named = find_by_id(self.query, self._visible) if self.query else {}
        ordered = self._order(after=key if is_next else None, before=None if is_next else key)
        ordered = ordered.exclude(pk=key.pk)
        with time_limit(LIST_SECONDS):
            found, _ = self._find(ordered, named, size=1)
        return found[0].pk if found else None

    def select_ids(self) -> list[int]:
        """Return the newest of all matching conversations."""
        rows = self.rows
        if self.query:
            named = find_by_id(self.query, self._visible)
            found = [*named]
            if not is_only_id(self.query, named):
                ordered = self.rows.order_by("-last_at", "-id")
                hits, _ = search(ordered, self.query.phrases, size=MAX_SEARCHED)
                found += [row.pk for row in hits]
            rows = self._visible.filter(pk__in=found)
        newest = rows.order_by("-last_at", "-id").values_list("pk", flat=True)
        return list(newest[:MAX_SELECTED])

    def count(self, limit: int, *, seconds: float) -> int | None:
        """Return their number, at most one more than the limit; None if counting is too slow."""
        return None if self.query or seconds <= 0 else count_rows(self.rows, limit, seconds=seconds)

    def _find(
        self, ordered: QuerySet[Conversation], named: Mapping[int, int | None], *, size: int
    ) -> tuple[list[Conversation], bool]:
        if is_only_id(self.query, named):
            return [], False
        ordered = ordered.select_related("copilot", "user")
        if not self.query:
            return list(ordered[: size + 1]), False
        return search(ordered, self.query.phrases, size=size)

    def _order(self, *, after: RowKey | None, before: RowKey | None) -> QuerySet[Conversation]:
        key = after or before
        is_ascending = self.is_oldest_first == (before is None)
        rows = self.rows
        if key is not None and is_ascending:
            later = Q(last_at__gt=key.at) | Q(last_at=key.at, pk__gt=key.pk)
            rows = rows.filter(later, last_at__gte=key.at)
        elif key is not None:
            earlier = Q(last_at__lt=key.at) | Q(last_at=key.at, pk__lt=key.pk)
            rows = rows.filter(earlier, last_at__lte=key.at)
        return rows.order_by("last_at", "id") if is_ascending else rows.order_by("-last_at", "-id")
