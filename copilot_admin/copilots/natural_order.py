"""The order in which people look for words: numbers by their size, letters without capitals and marks."""

import re
from typing import TypeAlias
import unicodedata

NaturalKey: TypeAlias = tuple[list[str | int], str]

_DIGITS = re.compile(r"(\d+)")


def natural_key(text: str) -> NaturalKey:
    """What to sort a short text by; two that are the same but for capitals and marks keep an order."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(letter for letter in apart if not unicodedata.combining(letter))
    # Text and digits stand by turns, the text first: the same place has the same kind in all keys.
    parts = _DIGITS.split(plain)
    return [int(part) if at % 2 else part for at, part in enumerate(parts)], text
