"""Search for conversations by text or ids, with excerpts.

Frequent terms fill a page among the newest conversations. The index finds rare terms. Neither
scans a full table.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Max, Min, Q, QuerySet

from copilot_admin.models import Conversation, Outcome, Run, Turn, TurnText
from copilot_admin.storage.search_text import find_spans
from copilot_admin.transcripts.search.text_index import (
    SearchQuery,
    answers_of,
    beginning_of,
    find_conversations,
    has_trigram,
    having,
    texts_of,
)

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


def is_only_id(query: SearchQuery, named: Collection[int]) -> bool:
    return bool(query) and (not query.phrases or (bool(named) and query.number is None))


def find_hits(conversation_ids: Iterable[int], phrases: Sequence[str]) -> dict[int, int]:
    """Return the first matching turn by conversation."""
    texts = having(TurnText.objects.filter(conversation__in=list(conversation_ids)), phrases)
    return dict(texts.order_by().values_list("conversation_id").annotate(Min("turn_id")))


MARGIN = 70  # characters before the first hit, and after it


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
    offset, end = _find_window(text, phrases)
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


def _find_window(text: str, phrases: Sequence[str]) -> tuple[int, int]:
    folded = text.casefold()
    first = min((at for one in phrases if (at := folded.find(one)) >= 0), default=-1)
    if first < 0 or len(folded) != len(text):
        return 0, len(text)
    return max(0, first - MARGIN), first + 4 * MARGIN + max(map(len, phrases))


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
