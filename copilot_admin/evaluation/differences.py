"""Differences between answers, and requests as curl commands."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
import json
import re
from typing import Any

from django.utils.translation import gettext as _

from copilot_admin.copilots.comparison import FieldChange, find_changes
from copilot_admin.models.copilots import MAX_VERSION_NOTE_LENGTH
from protocol.json import Json

EFFORT = 200_000  # steps, about 0.1 s; two prompts of 20,000 words with 200 edits need half
CONTEXT = 240  # characters that stay on either side of a difference
LONGEST = 6_000  # characters of a change, some three pages; nobody reads more of it in a list
MOST_FOLDED = 100_000  # characters of a part that is left out; of more only the length is told

# Scripts without spaces between words are compared character by character.
_WORD = re.compile(r"\s+|[぀-ヿ㐀-鿿가-힯豈-﫿]|[^\W぀-ヿ㐀-鿿가-힯豈-﫿]+|[^\w\s]")


class PartKind(StrEnum):
    """What became of a part of a text."""

    SAME = "same"
    GONE = "gone"
    NEW = "new"
    LEFT_OUT = "left-out"  # not shown


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of text, and what became of it.

    Attributes:
        within: Of a part that is not shown, what became of it.
    """

    kind: PartKind
    text: str
    within: PartKind = PartKind.SAME

    @property
    def can_be_shown(self) -> bool:
        return len(self.text) <= MOST_FOLDED


@dataclass(frozen=True, slots=True)
class _Hunk:
    """What went, what came in its place, and what both have after it."""

    gone: str
    new: str
    same: str


@dataclass(slots=True)
class _Effort:
    """What a comparison may still cost, in steps."""

    left: int = EFFORT


def differences(before: str, after: str) -> tuple[TextPart, ...]:
    """The parts of two texts; those that are the same or went give `before`, the others `after`.

    Args:
        before: The earlier text.
        after: The later text.

    Returns:
        Parts in their order. No part is empty, no two neighbours are of the same kind, and what
        went stands before what came in its place.
    """
    effort = _Effort()
    found: list[_Hunk] = []
    for hunk in _hunks(before.splitlines(True), after.splitlines(True), effort):
        if hunk.gone and hunk.new:
            words = _hunks(_WORD.findall(hunk.gone), _WORD.findall(hunk.new), effort)
            found += [*_without_islands(words), _Hunk("", "", hunk.same)]
        else:
            found.append(hunk)
    return tuple(_parts(found))


def shortened(
    parts: Sequence[TextPart], *, context: int = CONTEXT, longest: int = LONGEST
) -> tuple[TextPart, ...]:
    """The parts without what need not be read to know the differences.

    Args:
        parts: Of `differences`.
        context: Characters of what is the same that stay beside a difference; as many are not
            worth leaving out.
        longest: Characters of a part that went or came.

    Returns:
        The parts; one that was left out has the text that is not shown.
    """
    last = len(parts) - 1
    return tuple(
        piece
        for index, part in enumerate(parts)
        for piece in (
            _without_middle(
                part,
                head=context if index else 0,
                tail=context if index < last else 0,
                room=context,
            )
            if part.kind is PartKind.SAME
            else _without_middle(part, head=longest // 2, tail=longest // 2, room=0)
        )
    )


def _without_middle(part: TextPart, *, head: int, tail: int, room: int) -> Iterator[TextPart]:
    end = len(part.text) - tail
    if end - head <= room:
        yield part
        return
    yield from _part(part.kind, part.text[:head])
    yield TextPart(PartKind.LEFT_OUT, part.text[head:end], within=part.kind)
    yield from _part(part.kind, part.text[end:])


def _hunks(before: Sequence[str], after: Sequence[str], effort: _Effort) -> Iterator[_Hunk]:
    numbers: dict[str, int] = {}
    old = [numbers.setdefault(piece, len(numbers)) for piece in before]
    new = [numbers.setdefault(piece, len(numbers)) for piece in after]
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    yield _Hunk("", "", "".join(before[:head]))
    x = y = head
    end = len(old) - tail, len(new) - tail
    runs = _runs(old[head : end[0]], new[head : end[1]], effort)
    for left, right, length in (*runs, (end[0] - head, end[1] - head, tail)):
        at = head + left, head + right
        same = "".join(before[at[0] : at[0] + length])
        yield _Hunk("".join(before[x : at[0]]), "".join(after[y : at[1]]), same)
        x, y = at[0] + length, at[1] + length


def _common(old: Sequence[int], new: Sequence[int]) -> int:
    pairs = zip(old, new, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))


def _runs(
    old: Sequence[int], new: Sequence[int], effort: _Effort
) -> Iterable[tuple[int, int, int]]:
    furthest, trace = {1: 0}, []  # on each diagonal, how far so many edits lead
    for edits in range(len(old) + len(new) + 1):
        trace.append(furthest.copy())
        for diagonal in range(-edits, edits + 1, 2):
            x = _step(furthest, diagonal, edits)
            start = x
            while x < len(old) and x - diagonal < len(new) and old[x] == new[x - diagonal]:
                x += 1
            furthest[diagonal] = x
            effort.left -= 1 + x - start
            if x >= len(old) and x - diagonal >= len(new):
                return _walked_back(trace, len(old), len(new))
        if effort.left < 0:
            break
    return ()


def _step(furthest: Mapping[int, int], diagonal: int, edits: int) -> int:
    if _is_insertion(furthest, diagonal, edits):
        return furthest[diagonal + 1]
    return furthest[diagonal - 1] + 1


def _is_insertion(furthest: Mapping[int, int], diagonal: int, edits: int) -> bool:
    return diagonal == -edits or (
        diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1]
    )


def _walked_back(
    trace: Sequence[Mapping[int, int]], x: int, y: int
) -> Iterable[tuple[int, int, int]]:
    runs = []
    for edits in range(len(trace) - 1, -1, -1):
        diagonal = x - y
        start = _step(trace[edits], diagonal, edits)
        if x > start:
            runs.append((start, start - diagonal, x - start))
        came_from = diagonal + 1 if _is_insertion(trace[edits], diagonal, edits) else diagonal - 1
        x = trace[edits][came_from]
        y = x - came_from
    return reversed(runs)


def _without_islands(hunks: Iterable[_Hunk]) -> list[_Hunk]:
    found: list[_Hunk] = []
    for hunk in hunks:
        last = found[-1] if found else None
        if last and last.gone + last.new and not any(map(str.isalnum, last.same)):
            gone, new = last.gone + last.same + hunk.gone, last.new + last.same + hunk.new
            found[-1] = _Hunk(gone, new, hunk.same)
        else:
            found.append(hunk)
    return found


def _parts(hunks: Iterable[_Hunk]) -> Iterator[TextPart]:
    same: list[str] = []
    for hunk in hunks:
        if hunk.gone or hunk.new:
            yield from _part(PartKind.SAME, "".join(same))
            yield from _part(PartKind.GONE, hunk.gone)
            yield from _part(PartKind.NEW, hunk.new)
            same = []
        same.append(hunk.same)
    yield from _part(PartKind.SAME, "".join(same))


def _part(kind: PartKind, text: str) -> Iterator[TextPart]:
    if text:
        yield TextPart(kind, text)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedChange:
    """A field that differs, as one text with what went and what came."""

    label: str
    parts: tuple[TextPart, ...]


def marked_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[MarkedChange, ...]:
    """The fields in which two documents differ, in the order of the form."""
    return marked(find_changes(before, after))


def marked(changes: Iterable[FieldChange]) -> tuple[MarkedChange, ...]:
    """Marks within each field what went and what came; what is far from it is left out."""
    return tuple(
        MarkedChange(label=change.label, parts=shortened(differences(change.before, change.after)))
        for change in changes
    )


def proposed_note(changes: Sequence[FieldChange], *, is_first: bool) -> str:
    """What a version may say of itself when nobody says more."""
    return _("First version") if is_first else in_a_line(changes)


def in_a_line(changes: Sequence[FieldChange]) -> str:
    """The names of what changed; as many as a note has room for."""
    line = ", ".join(change.label for change in changes)
    return (
        line if len(line) <= MAX_VERSION_NOTE_LENGTH else f"{line[: MAX_VERSION_NOTE_LENGTH - 1]}…"
    )


KEY = "$COPILOT_KEY"  # the shell puts it in, from where it is kept


def curl_of(address: str, body: Json) -> str:
    """The command that asks the same again.

    Args:
        address: Where copilots are asked.
        body: The request as it is kept: without secrets. It is one line, so that nothing in it can
            end the text that the shell hands over as it is.
    """
    text = json.dumps(body, ensure_ascii=False)
    return (
        f"curl -N {_quoted(address)} \\\n"
        f"  -H 'Content-Type: application/json' -H \"X-API-Key: {KEY}\" \\\n"
        f"  --data-binary @- <<'REQUEST'\n{text}\nREQUEST\n"
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
