"""Differences between texts, and requests as curl commands."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
import json
import re
from typing import Any

from diff_match_patch import diff_match_patch
from django.utils.translation import gettext as _

from copilot_admin.copilots.comparison import FieldChange, find_changes
from copilot_admin.models.copilots import MAX_VERSION_NOTE_LENGTH
from protocol.json import Json

TIMEOUT_SECONDS = 0.2  # then the remaining text counts as replaced
MAX_CONTEXT = 240  # characters of context on either side of a difference
MAX_CHANGE_LENGTH = 6_000  # characters of a change, some three pages
MAX_FOLDED_LENGTH = 100_000  # characters of a hidden part; a longer one is replaced by its length

# Scripts without blanks between terms are compared character by character.
_WORD = re.compile(r"\s+|[぀-ヿ㐀-鿿가-힯豈-﫿]|[^\W぀-ヿ㐀-鿿가-힯豈-﫿]+|[^\w\s]")


class PartKind(StrEnum):
    """Kinds of parts of a compared text."""

    SAME = "same"
    GONE = "gone"
    NEW = "new"
    LEFT_OUT = "left-out"  # hidden


_KINDS = {
    diff_match_patch.DIFF_EQUAL: PartKind.SAME,
    diff_match_patch.DIFF_DELETE: PartKind.GONE,
    diff_match_patch.DIFF_INSERT: PartKind.NEW,
}


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a text.

    Attributes:
        within: Kind of a hidden part.
    """

    kind: PartKind
    text: str
    within: PartKind = PartKind.SAME

    @property
    def is_expandable(self) -> bool:
        return len(self.text) <= MAX_FOLDED_LENGTH


def differences(before: str, after: str) -> tuple[TextPart, ...]:
    """Compare two texts by their terms and signs.

    Returns:
        Parts in order: `SAME` and `GONE` make up `before`, `SAME` and `NEW` make up `after`. Every
        part has text, neighbours have different kinds, and `GONE` precedes `NEW`.
    """
    words: list[str] = []
    numbers: dict[str, int] = {}

    def encode(text: str) -> str:
        """Encode each distinct term as one character, as the library does with lines."""
        for word in _WORD.findall(text):
            if word not in numbers:
                numbers[word] = len(words)
                words.append(word)
        return "".join(chr(numbers[word]) for word in _WORD.findall(text))

    library = diff_match_patch()
    library.Diff_Timeout = TIMEOUT_SECONDS
    found = library.diff_main(encode(before), encode(after), False)
    library.diff_cleanupSemantic(found)
    library.diff_cleanupMerge(found)
    library.diff_charsToLines(found, words)
    return tuple(TextPart(_KINDS[kind], text) for kind, text in found if text)


def shortened(
    parts: Sequence[TextPart], *, context: int = MAX_CONTEXT, longest: int = MAX_CHANGE_LENGTH
) -> tuple[TextPart, ...]:
    """Omit text that isn't needed to see the differences.

    Args:
        parts: Parts of `differences`.
        context: Characters of context on either side of a difference; shorter gaps aren't omitted.
        longest: Characters of a removed or added part.
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


def _part(kind: PartKind, text: str) -> Iterator[TextPart]:
    if text:
        yield TextPart(kind, text)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedChange:
    """A field that differs, with removed and added parts."""

    label: str
    parts: tuple[TextPart, ...]


def marked_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[MarkedChange, ...]:
    """Compare two documents field by field, in the order of the form."""
    return marked(find_changes(before, after))


def marked(changes: Iterable[FieldChange]) -> tuple[MarkedChange, ...]:
    """Compare the texts of changed fields."""
    return tuple(
        MarkedChange(label=change.label, parts=shortened(differences(change.before, change.after)))
        for change in changes
    )


def proposed_note(changes: Sequence[FieldChange], *, is_first: bool) -> str:
    """Return the default note of a version."""
    return _("First version") if is_first else in_a_line(changes)


def in_a_line(changes: Sequence[FieldChange]) -> str:
    """Return the names of changed fields, truncated to the length of a note."""
    line = ", ".join(change.label for change in changes)
    return (
        line if len(line) <= MAX_VERSION_NOTE_LENGTH else f"{line[: MAX_VERSION_NOTE_LENGTH - 1]}…"
    )


KEY = "$COPILOT_KEY"  # replaced by the shell


def curl_of(address: str, body: Json) -> str:
    """Return the command that repeats a request.

    Args:
        address: URL of the query endpoint.
        body: The stored request, without secrets. It is put on one line, so that its content
            can't end the here-document.
    """
    text = json.dumps(body, ensure_ascii=False)
    return (
        f"curl -N {_quoted(address)} \\\n"
        f"  -H 'Content-Type: application/json' -H \"X-API-Key: {KEY}\" \\\n"
        f"  --data-binary @- <<'REQUEST'\n{text}\nREQUEST\n"
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
