"""Conversations selected by the filters and search of a URL, with pages and excerpts.

Frequent terms fill a page among the newest conversations. The index finds rare terms. Neither
scans a full table.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Self
from urllib.parse import urlencode

from django.db.models import Max, Min, Q, QuerySet
from django.http import QueryDict
from django.utils.functional import cached_property

from copilot_admin.models import Conversation, Outcome, Run, Turn, TurnText
from copilot_admin.storage.errors import count_rows, time_limit
from copilot_admin.storage.search_text import find_spans
from copilot_admin.transcripts.filters import FILTERS, read_filters
from copilot_admin.transcripts.search.text_index import (
    SearchQuery,
    answers_of,
    beginning_of,
    clean_search,
    find_conversations,
    has_trigram,
    having,
    parse_search,
    texts_of,
)

SEARCH_PARAMETER = "q"
MAX_QUERY_LENGTH = 8_000
MARGIN = 70  # characters before the first hit, and after it
LIST_SECONDS = 2.5  # below the limit of PostgreSQL's connections
MAX_SELECTED = 50_000  # conversations of one selection, such as for a review queue
MAX_SEARCHED = 2_000  # of a selection by text search
MICROSECOND = timedelta(microseconds=1)


def read_query(query: str) -> dict[str, str]:
    """Return the parameters of a URL that the list reads; the last of repeated ones."""
    return QueryDict(query).dict()


def normalize_query(given: Mapping[str, str]) -> str:
    """Return the filters and search of a URL in canonical order."""
    kept = {name: given.get(name, "").strip() for name in (SEARCH_PARAMETER, *FILTERS)}
    kept[SEARCH_PARAMETER] = clean_search(kept[SEARCH_PARAMETER])
    return urlencode({name: value for name, value in kept.items() if value})


# Conversations that are scanned step by step: before the index is used, or if it can't be used.
FIRST_STEPS, MORE_STEPS = (100, 400, 1_000), (1_000, 7_500)


def search(
    ordered: QuerySet[Conversation], phrases: Sequence[str], *, size: int
) -> tuple[list[Conversation], bool]:
    """Return a page of conversations and one more, and whether older ones were not searched."""

    def read(ids: Iterable[int]) -> list[Conversation]:
        return list(ordered.filter(pk__in=list(ids))[: size + 1])

    found, is_done = _scan(ordered, phrases, FIRST_STEPS, start=0, size=size)
    if is_done:
        return read(found), False
    indexed = [phrase for phrase in phrases if has_trigram(phrase)]
    if indexed and (hits := find_conversations(phrases, indexed)) is not None:
        ids, are_all = hits
        return read({*ids, *found}), not are_all
    start = sum(FIRST_STEPS)
    more, is_done = _scan(ordered, phrases, MORE_STEPS, start=start, size=size - len(found))
    return read([*found, *more]), not is_done


def _scan(
    ordered: QuerySet[Conversation],
    phrases: Sequence[str],
    steps: Sequence[int],
    *,
    start: int,
    size: int,
) -> tuple[list[int], bool]:
    """Search the list step by step; return whether more than a page, or the list's end, is reached."""
    upcoming = list(ordered.values_list("pk", flat=True)[start : start + sum(steps) + 1])
    is_at_end = len(upcoming) <= sum(steps)
    found: list[int] = []
    for step in steps:
        if len(found) <= size:
            ids, upcoming = upcoming[:step], upcoming[step:]
            texts = having(texts_of(ids), phrases).order_by()
            matching = set(texts.values_list("conversation_id", flat=True))
            found += [pk for pk in ids if pk in matching]
    return found, is_at_end or len(found) > size


def find_by_id(query: SearchQuery, visible: QuerySet[Conversation]) -> dict[int, int | None]:
    """Return the visible conversations with this id; for the id of a run, with its turn."""
    named: dict[int, int | None] = {}
    if query.trace_id:
        traced = visible.filter(~Q(trace_id=""), trace_id=query.trace_id)
        named |= dict.fromkeys(traced.order_by("-id").values_list("pk", flat=True)[:20])
    if query.number is not None:
        numbered = visible.filter(pk=query.number)
        named |= dict.fromkeys(numbered.values_list("pk", flat=True))
    if query.run_id is not None:
        runs = Run.objects.filter(pk=query.run_id, conversation__in=visible)
        named |= {pk: turn for pk, turn in runs.values_list("conversation_id", "turn_id") if pk}
    return named


def find_hits(conversation_ids: Iterable[int], phrases: Sequence[str]) -> dict[int, int]:
    """Return the first matching turn by conversation."""
    texts = having(TurnText.objects.filter(conversation__in=list(conversation_ids)), phrases)
    return dict(texts.order_by().values_list("conversation_id").annotate(Min("turn_id")))


@dataclass(frozen=True, slots=True)
class ExcerptPiece:
    text: str
    is_hit: bool = False


def load_excerpts(
    turn_ids: Collection[int], phrases: Sequence[str]
) -> dict[int, tuple[ExcerptPiece, ...]]:
    """Return the search hits of each turn in their context; two queries."""
    rows = Turn.objects.filter(pk__in=turn_ids).order_by()
    questions = dict(rows.values_list("pk", beginning_of("human_node__text")))
    answers = answers_of(turn_ids)
    excerpts = {}
    for turn in turn_ids:
        texts = (questions.get(turn) or "", *answers.get(turn, ()))
        found = (make_excerpt(text, phrases) for text in texts)
        excerpts[turn] = next(filter(None, found), ())
    return excerpts


def make_excerpt(text: str, phrases: Sequence[str]) -> tuple[ExcerptPiece, ...]:
    """Return the first hit in a text with its context, or an empty tuple."""
    folded, offset, end = text.casefold(), 0, len(text)
    first_hit = min((at for one in phrases if (at := folded.find(one)) >= 0), default=-1)
    if first_hit >= 0 and len(folded) == len(text):
        offset = max(0, first_hit - MARGIN)
        end = first_hit + 4 * MARGIN + max(map(len, phrases))
    spans = [
        (offset + first, offset + last) for first, last in find_spans(text[offset:end], phrases)
    ]
    if not spans:
        return ()
    start = max(0, spans[0][0] - MARGIN)
    end = min(len(text), spans[0][1] + MARGIN)
    pieces = [ExcerptPiece("…")] if start else []
    at = start
    for first, last in spans:
        if first >= end:
            break
        hit = ExcerptPiece(text[first : min(last, end)], is_hit=True)
        pieces += [ExcerptPiece(text[at:first]), hit]
        at = min(last, end)
    pieces += [ExcerptPiece(text[at:end]), ExcerptPiece("…" if end < len(text) else "")]
    return tuple(piece for piece in pieces if piece.text)


def load_errors(rows: Iterable[Conversation]) -> Mapping[int, Sequence[str]]:
    """Return the kinds of errors by conversation, the latest first."""
    failed = [row.pk for row in rows if row.has_error or row.last_outcome != Outcome.COMPLETED]
    if not failed:
        return {}
    runs = Run.objects.filter(~Q(error_code=""), conversation__in=failed)
    kinds = runs.values("conversation_id", "error_code").annotate(latest=Max("started_at"))
    errors: dict[int, list[str]] = defaultdict(list)
    for row in kinds.order_by("-latest"):
        errors[row["conversation_id"]].append(row["error_code"])
    return errors


SORT_PARAMETER = "sort"
# Columns by which the list is read in order, each with its values of the parameter: newest and
# oldest first. Ids follow the start, and their index costs nothing.
SORTS: Mapping[str, tuple[str, str]] = {"active": ("", "oldest"), "started": ("started", "first")}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
        is_valid = at.isdecimal() and pk.isdecimal() and len(text) <= 40
        try:
            return cls(EPOCH + int(at) * MICROSECOND, int(pk)) if is_valid else None
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
        sort = params.get(SORT_PARAMETER, "")
        self.is_oldest_first = sort in [oldest for _newest, oldest in SORTS.values()]
        self._is_by_start = sort in SORTS["started"]
        self.rows = self.filters.apply(visible)
        self._visible = visible

    @cached_property
    def named(self) -> Mapping[int, int | None]:
        """Conversations found by their id regardless of the filters; see `find_by_id`."""
        return find_by_id(self.query, self._visible) if self.query else {}

    @property
    def is_only_named(self) -> bool:
        """True if the search is an id, so that texts aren't searched."""
        query = self.query
        return bool(query) and (not query.phrases or (bool(self.named) and query.number is None))

    def read_page(
        self, *, size: int, after: RowKey | None = None, before: RowKey | None = None
    ) -> ListPage:
        """Read the rows after or before a position, or the first ones; may raise TooSlowError."""
        named = self.named if after is None and before is None else {}
        with time_limit(LIST_SECONDS):
            found, is_limited = self._find(self._order(after=after, before=before), size=size)
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
        ordered = self._order(after=key if is_next else None, before=None if is_next else key)
        with time_limit(LIST_SECONDS):
            found, _ = self._find(ordered.exclude(pk=key.pk), size=1)
        return found[0].pk if found else None

    def select_ids(self) -> list[int]:
        """Return the newest of all matching conversations."""
        rows = self.rows
        if self.query:
            hits, _ = self._find(rows.order_by("-last_at", "-id"), size=MAX_SEARCHED)
            rows = self._visible.filter(pk__in=[*self.named, *(row.pk for row in hits)])
        newest = rows.order_by("-last_at", "-id").values_list("pk", flat=True)
        return list(newest[:MAX_SELECTED])

    def count(self, limit: int, *, seconds: float) -> int | None:
        """Return their number, at most one more than the limit; None if counting is too slow."""
        if self.is_only_named:
            return len(self.named)
        return None if self.query or seconds <= 0 else count_rows(self.rows, limit, seconds=seconds)

    def _find(
        self, ordered: QuerySet[Conversation], *, size: int
    ) -> tuple[list[Conversation], bool]:
        if self.is_only_named:
            return [], False
        ordered = ordered.select_related("copilot", "user")
        if not self.query:
            return list(ordered[: size + 1]), False
        return search(ordered, self.query.phrases, size=size)

    def _order(self, *, after: RowKey | None, before: RowKey | None) -> QuerySet[Conversation]:
        key = after or before
        is_ascending = self.is_oldest_first == (before is None)
        than, sign = ("gt", "") if is_ascending else ("lt", "-")
        rows, beyond = self.rows, Q()
        if key is not None:
            beyond = Q((f"pk__{than}", key.pk))
        if self._is_by_start:
            return rows.filter(beyond).order_by(f"{sign}id")
        if key is not None:
            beyond = Q((f"last_at__{than}", key.at)) | Q(beyond, last_at=key.at)
            rows = rows.filter(beyond, (f"last_at__{than}e", key.at))
        return rows.order_by(f"{sign}last_at", f"{sign}id")
