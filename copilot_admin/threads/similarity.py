"""How alike two texts are, one of which may have been cut or laid out anew."""

import re
import unicodedata

# Measured: of two long texts about different things one has up to 0.97 of the other's groups of three
# letters, and a third of those of eight; a text that was laid out anew keeps eight tenths of these.
GRAM = 8
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
        if fewer:
            return len(self._grams & other._grams) / fewer
        one, longer = sorted((self.letters, other.letters), key=len)
        return float(bool(one) and longer.startswith(one))  # too short for a group: was it cut?


def likeness(one: str, other: str) -> float:
    """How alike two texts are; see `Compared.likeness`."""
    return Compared(one).likeness(Compared(other))


def _grams(letters: str) -> set[str]:
    return {letters[start : start + GRAM] for start in range(len(letters) - GRAM + 1)}
