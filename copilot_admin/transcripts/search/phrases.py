"""Typed searches, parsed as phrases and as ids."""

from dataclasses import dataclass
import re
import unicodedata
from uuid import UUID

from copilot_admin.storage.search_text import normalize

MAX_TYPED = 500  # characters; the rest is cut
MAX_PHRASES = 20
MAX_ID = 2**63 - 1
# Text in quotation marks of any kind, or without blanks.
_PART = re.compile(r'["“”„«»]([^"“”„«»]*)["“”„«»]|([^\s"“”„«»]+)')


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """A search.

    Attributes:
        phrases: Normalized; a turn matches if its question and answers have all of them.
        trace_id: The complete text, which may be a trace id.
        run_id: The complete text, if it has the form of a run's id.
        number: The complete text as the number of a conversation, with or without #.
        is_cut: The typed text exceeds the limits of a search.
    """

    phrases: tuple[str, ...] = ()
    trace_id: str = ""
    run_id: UUID | None = None
    number: int | None = None
    is_cut: bool = False

    def __bool__(self) -> bool:
        return bool(self.phrases or self.trace_id)


def clean_search(text: str) -> str:
    """Return the searched part of a typed text."""
    return text.replace("\0", "").strip()[:MAX_TYPED]


def parse_search(text: str) -> SearchQuery:
    """Parse terms and "phrases in quotation marks", or an id."""
    whole = clean_search(text)
    parts = (normalize(match.group(1) or match.group(2) or "") for match in _PART.finditer(whole))
    phrases = tuple(dict.fromkeys(filter(None, parts)))
    return SearchQuery(
        phrases=phrases[:MAX_PHRASES],
        trace_id=whole,
        run_id=_parse_uuid(whole),
        number=_parse_number(whole),
        is_cut=len(phrases) > MAX_PHRASES or len(whole) < len(text.replace("\0", "").strip()),
    )


def has_trigram(phrase: str) -> bool:
    """Return True if an index of trigrams can find a phrase: it has three letters or digits in a row.

    SQLite could find other signs too, but PostgreSQL could not; the rule makes both find the same.
    """
    length = 0
    for sign in phrase:
        counts = sign.isalnum() or unicodedata.category(sign).startswith("M")
        length = length + 1 if counts else 0
        if length == 3:
            return True
    return False


def _parse_uuid(text: str) -> UUID | None:
    try:
        return UUID(text) if len(text) >= 32 else None
    except ValueError:
        return None


def _parse_number(text: str) -> int | None:
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 19):
        return None
    return number if (number := int(digits)) <= MAX_ID else None
