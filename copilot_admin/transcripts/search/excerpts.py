"""The words that were found, with what stands around them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from copilot_admin.models import Turn
from copilot_admin.storage.search_text import find_spans
from copilot_admin.transcripts.store.search_index import answers_of, beginning_of

AROUND = 70  # characters before the first hit, and after it


@dataclass(frozen=True, slots=True)
class ExcerptPiece:
    """A part of an excerpt."""

    text: str
    is_hit: bool = False


def excerpts(
    turn_ids: Collection[int], phrases: Sequence[str]
) -> dict[int, tuple[ExcerptPiece, ...]]:
    """For each turn the words that were found in it; two queries, whatever their number."""
    texts = _texts(turn_ids)
    return {
        turn: next(filter(None, (excerpt(text, phrases) for text in texts.get(turn, ()))), ())
        for turn in turn_ids
    }


def excerpt(text: str, phrases: Sequence[str]) -> tuple[ExcerptPiece, ...]:
    """The first phrase in a text with what is around it; empty if there is none."""
    begins, ends = _looked_at(text, phrases)
    spans = [
        (begins + first, begins + last) for first, last in find_spans(text[begins:ends], phrases)
    ]
    if not spans:
        return ()
    start = max(0, spans[0][0] - AROUND)
    end = min(len(text), spans[0][1] + AROUND)
    pieces = [ExcerptPiece("…")] if start else []
    place = start
    for first, last in spans:
        if first >= end:
            break
        pieces += [
            ExcerptPiece(text[place:first]),
            ExcerptPiece(text[first : min(last, end)], is_hit=True),
        ]
        place = min(last, end)
    pieces += [ExcerptPiece(text[place:end]), *([ExcerptPiece("…")] if end < len(text) else [])]
    return tuple(piece for piece in pieces if piece.text)


def _looked_at(text: str, phrases: Sequence[str]) -> tuple[int, int]:
    alike = text.casefold()
    if len(alike) != len(text):
        return 0, len(text)
    first = min((place for one in phrases if (place := alike.find(one)) >= 0), default=-1)
    if first < 0:
        return 0, len(text)
    return max(0, first - AROUND), first + 4 * AROUND + max(map(len, phrases))


def _texts(turn_ids: Collection[int]) -> Mapping[int, list[str]]:
    asked = Turn.objects.filter(pk__in=turn_ids).order_by()
    questions = dict(asked.values_list("pk", beginning_of("human_node__text")))
    answers = answers_of(turn_ids)
    return {turn: [questions.get(turn) or "", *answers.get(turn, ())] for turn in turn_ids}
