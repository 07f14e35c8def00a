"""How alike two texts are, one of which may have been cut or laid out anew."""

import re
import unicodedata

GRAM = 3
COMPARED = 2000  # characters; an answer is recognised long before its end
_NO_CONTENT = re.compile(r"[\W_]+")


def likeness(one: str, other: str) -> float:
    """The share of the shorter text's letter groups that the longer one has too, 0 to 1.

    Markup and space do not count. A text cut off at any place is as like as the whole.
    """
    first, second = _grams(one), _grams(other)
    if not first or not second:
        return 0.0
    return len(first & second) / min(len(first), len(second))


def _grams(text: str) -> set[str]:
    folded = unicodedata.normalize("NFKC", text[:COMPARED]).casefold()
    letters = _NO_CONTENT.sub(" ", folded).strip()
    if len(letters) <= GRAM:
        return {letters} if letters else set()
    return {letters[start : start + GRAM] for start in range(len(letters) - GRAM + 1)}
