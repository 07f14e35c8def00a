"""What somebody typed to find conversations, as phrases and as an id."""

from dataclasses import dataclass
import re
import unicodedata
from uuid import UUID

from copilot_admin.storage.search_text import normalize

MOST_TYPED = 500  # characters; what is longer is cut
MOST_PHRASES = 20
LARGEST_ID = 2**63 - 1
# In quotation marks of any kind, or a word.
_PART = re.compile(r'["“”„«»]([^"“”„«»]*)["“”„«»]|([^\s"“”„«»]+)')


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What is looked for.

    Attributes:
        phrases: Folded; a turn is found when its question and answers have all of them.
        trace_id: What was typed as a whole, which may be one.
        run_id: The same, if it has the form of one.
        number: The same as the number of a conversation, with or without a # before it.
        is_cut: More was typed than is looked for.
    """

    phrases: tuple[str, ...] = ()
    trace_id: str = ""
    run_id: UUID | None = None
    number: int | None = None
    is_cut: bool = False

    def __bool__(self) -> bool:
        return bool(self.phrases or self.trace_id)


def as_read(text: str) -> str:
    """What of the words that were typed is looked for."""
    return text.replace("\0", "").strip()[:MOST_TYPED]


def read_typed(text: str) -> Typed:
    """Reads what was typed: words and "phrases in quotation marks", or an id."""
    whole = as_read(text)
    parts = (normalize(match.group(1) or match.group(2) or "") for match in _PART.finditer(whole))
    phrases = tuple(dict.fromkeys(filter(None, parts)))
    return Typed(
        phrases=phrases[:MOST_PHRASES],
        trace_id=whole,
        run_id=_uuid(whole),
        number=_number(whole),
        is_cut=len(phrases) > MOST_PHRASES or len(whole) < len(text.replace("\0", "").strip()),
    )


def has_trigram(phrase: str, *, beyond_ascii: bool = True) -> bool:
    """Whether an index of trigrams can find a phrase: three letters or digits stand side by side.

    SQLite could find other signs too, and PostgreSQL could not: both find the same.
    """
    length = 0
    for sign in phrase:
        counts = sign.isalnum() or unicodedata.category(sign).startswith("M")
        length = length + 1 if counts and (beyond_ascii or sign.isascii()) else 0
        if length == 3:
            return True
    return False


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text) if len(text) >= 32 else None
    except ValueError:
        return None


def _number(text: str) -> int | None:
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 19):
        return None
    return number if (number := int(digits)) <= LARGEST_ID else None
