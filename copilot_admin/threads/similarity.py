"""How alike two texts are, one of which may have been cut or laid out anew."""

import re
import unicodedata

GRAM = 3
COMPARED = 2000  # characters; an answer is recognised long before its end
_NO_CONTENT = re.compile(r"[\W_]+")


class Compared:
    """The beginning of a text, made ready to be compared with others."""

    def __init__(self, text: str) -> None:
        folded = unicodedata.normalize("NFKC", text[:COMPARED]).casefold()
        self.letters = _NO_CONTENT.sub(" ", folded).strip()
        self._grams = _grams(self.letters)

    def likeness(self, other: "Compared") -> float:
        """The share of the shorter text's letter groups that the longer one has too, 0 to 1.

        Markup and space do not count. A text cut off at any place is as like as the whole.
        """
        fewer = min(len(self._grams), len(other._grams))
        return len(self._grams & other._grams) / fewer if fewer else 0.0


def likeness(one: str, other: str) -> float:
    """How alike two texts are; see `Compared.likeness`."""
    return Compared(one).likeness(Compared(other))


def _grams(letters: str) -> set[str]:
    if len(letters) <= GRAM:
        return {letters} if letters else set()
    return {letters[start : start + GRAM] for start in range(len(letters) - GRAM + 1)}
