"""Differences between texts, word by word."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
import re
from typing import Any

from diff_match_patch import diff_match_patch
from django.utils.translation import gettext as _

from copilot_admin.copilots.comparison import FieldChange, find_changes
from copilot_admin.models.copilots import MAX_VERSION_NOTE_LENGTH

TIMEOUT_SECONDS = 0.2  # then the remaining text counts as replaced
MAX_CONTEXT = 240  # characters of context on either side of a difference
MAX_CHANGE_LENGTH = 6_000  # characters of a change, some three pages
MAX_FOLDED_LENGTH = 100_000  # characters of a hidden part; a longer one is replaced by its length

# Scripts without blanks between terms are compared character by character.
_WORD = re.compile(r"\s+|[぀-ヿ㐀-鿿가-힯豈-﫿]|[^\W぀-ヿ㐀-鿿가-힯豈-﫿]+|[^\w\s]")


class PartKind(StrEnum):
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
    """A part of a text; `within` is the kind of a hidden one."""

    kind: PartKind
    text: str
    within: PartKind = PartKind.SAME

    @property
    def is_expandable(self) -> bool:
        return len(self.text) <= MAX_FOLDED_LENGTH


def compare_texts(before: str, after: str) -> tuple[TextPart, ...]:
    return shortened(differences(before, after))


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


def shortened(parts: Sequence[TextPart], *, context: int = MAX_CONTEXT) -> tuple[TextPart, ...]:
    """Omit text that isn't needed to see the differences, but no gap shorter than the context."""
    found: list[TextPart] = []
    for index, part in enumerate(parts):
        head = tail = MAX_CHANGE_LENGTH // 2
        min_omitted = 0
        if part.kind is PartKind.SAME:
            head, tail = context if index else 0, context if index < len(parts) - 1 else 0
            min_omitted = context
        end = len(part.text) - tail
        if end - head <= min_omitted:
            found.append(part)
            continue
        found += [
            TextPart(part.kind, part.text[:head]),
            TextPart(PartKind.LEFT_OUT, part.text[head:end], within=part.kind),
            TextPart(part.kind, part.text[end:]),
        ]
    return tuple(part for part in found if part.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedChange:
    """A field that differs, with removed and added parts."""

    label: str
    parts: tuple[TextPart, ...]


def marked_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[MarkedChange, ...]:
    return marked(find_changes(before, after))


def marked(changes: Iterable[FieldChange]) -> tuple[MarkedChange, ...]:
    return tuple(
        MarkedChange(label=one.label, parts=compare_texts(one.before, one.after)) for one in changes
    )


def proposed_note(changes: Sequence[FieldChange], *, is_first: bool) -> str:
    return _("First version") if is_first else in_a_line(changes)


def in_a_line(changes: Sequence[FieldChange]) -> str:
    """Return the names of changed fields, truncated to the length of a note."""
    line, most = ", ".join(change.label for change in changes), MAX_VERSION_NOTE_LENGTH
    return line if len(line) <= most else f"{line[: most - 1]}…"
