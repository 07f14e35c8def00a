"""Search for conversations by text or ids.

Frequent terms fill a page among the newest conversations. The index finds rare terms. Neither
scans a full table.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Min, Q, QuerySet

from copilot_admin.models import Conversation, Run, TurnText
from copilot_admin.transcripts.search.text_index import (
    SearchQuery,
    find_conversations,
    has_trigram,
    having,
    texts_of,
)

# Conversations that are scanned step by step: before the index is used, or if it can't be used.
FIRST_STEPS, MORE_STEPS = (100, 400, 1_000), (1_000, 7_500)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResults:
    """A page of conversations and one more; `is_limited` if older ones were not searched."""

    rows: Sequence[Conversation]
    is_limited: bool = False


def search(ordered: QuerySet[Conversation], phrases: Sequence[str], *, size: int) -> SearchResults:
    walk = _Walk(ordered, phrases, size=size)
    if walk.advance(FIRST_STEPS):
        return SearchResults(rows=_rows(ordered, walk.found, size=size))
    indexed = [phrase for phrase in phrases if has_trigram(phrase)]
    if indexed and (found := find_conversations(phrases, indexed)) is not None:
        ids, are_all = found
        rows = _rows(ordered, {*ids, *walk.found}, size=size)
        return SearchResults(rows=rows, is_limited=not are_all)
    is_done = walk.advance(MORE_STEPS)
    return SearchResults(rows=_rows(ordered, walk.found, size=size), is_limited=not is_done)


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


def is_only_id(query: SearchQuery, named: Collection[int]) -> bool:
    return bool(query) and (not query.phrases or (bool(named) and query.number is None))


def find_hits(conversation_ids: Iterable[int], phrases: Sequence[str]) -> dict[int, int]:
    """Return the first matching turn by conversation."""
    texts = having(TurnText.objects.filter(conversation__in=list(conversation_ids)), phrases)
    return dict(texts.order_by().values_list("conversation_id").annotate(Min("turn_id")))


class _Walk:
    """Scan of the list from its beginning until more than a page is found."""

    def __init__(
        self, ordered: QuerySet[Conversation], phrases: Sequence[str], *, size: int
    ) -> None:
        self._ids = ordered.values_list("pk", flat=True)
        self._phrases, self._size, self._start = phrases, size, 0
        self.found: list[int] = []

    def advance(self, steps: Sequence[int]) -> bool:
        """Search these steps; return True at the end of the list or of a page."""
        upcoming = list(self._ids[self._start : self._start + sum(steps) + 1])
        is_at_end = len(upcoming) <= sum(steps)
        for step in steps:
            if len(self.found) > self._size:
                return True
            ids, upcoming = upcoming[:step], upcoming[step:]
            texts = having(texts_of(ids), self._phrases).order_by()
            matching = set(texts.values_list("conversation_id", flat=True))
            self.found += [pk for pk in ids if pk in matching]
            self._start += step
        return is_at_end or len(self.found) > self._size


def _rows(ordered: QuerySet[Conversation], ids: Iterable[int], *, size: int) -> list[Conversation]:
    return list(ordered.filter(pk__in=list(ids))[: size + 1])
