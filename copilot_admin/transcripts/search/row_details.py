"""Details of the rows of the conversation list: excerpts and kinds of errors."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Max, Q

from copilot_admin.models import Conversation, Outcome, Run, Turn
from copilot_admin.storage.search_text import find_spans
from copilot_admin.transcripts.search.text_index import answers_of, beginning_of

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
