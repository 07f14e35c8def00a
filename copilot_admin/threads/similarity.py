"""How alike two texts are, one of which may have been cut or laid out anew."""

from collections import defaultdict
from collections.abc import Mapping
import re
import unicodedata

# Measured: of two long texts about different things one has up to 0.97 of the other's groups of three
# letters, and a third of those of eight; a text that was laid out anew keeps eight tenths of these.
GRAM = 8
COMPARED = 2000  # characters; an answer is recognised long before its end
BEHIND = 2  # letters behind a number that tell where it stands: a blank and the next word's first
_NUMBER = re.compile(r"\d+")
_SEPARATOR = re.compile(r"(?<=\d)[.,'\u2019](?=\d)")  # 1,204.5 is 1204,5 elsewhere
_NO_CONTENT = re.compile(r"[\W_]+")


class Compared:
    """The beginning of a text, made ready to be compared with others."""

    def __init__(self, text: str) -> None:
        self._folded = unicodedata.normalize("NFKC", text[:COMPARED]).casefold()
        self.letters = _letters(self._folded)
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

    def contradicts(self, other: "Compared") -> bool:
        """Whether they say another number where they say the same otherwise.

        A text that was cut or laid out anew says what it said; one that was made in the same way of other
        data does not.
        """
        here, there = _numbers(self._folded), _numbers(other._folded)
        return any(here[place].isdisjoint(there[place]) for place in here.keys() & there.keys())


def likeness(one: str, other: str) -> float:
    """How alike two texts are; see `Compared.likeness`."""
    return Compared(one).likeness(Compared(other))


def _grams(letters: str) -> set[str]:
    return {letters[start : start + GRAM] for start in range(len(letters) - GRAM + 1)}


def _numbers(folded: str) -> Mapping[tuple[str, str], set[str]]:
    """The numbers of a text, by what stands before and behind them with any other numbers.

    What stands behind tells a number from a citation before it, which clients leave out. A last one may
    have been cut.
    """
    letters = _letters(_SEPARATOR.sub("", folded))
    masked = _NUMBER.sub("0", letters)
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    gone = 0  # letters of the numbers before
    for number in _NUMBER.finditer(letters):
        start = number.start() - gone
        gone += len(number[0]) - 1
        behind = masked[start + 1 : start + 1 + BEHIND]
        if len(behind) == BEHIND:
            found[masked[max(0, start - GRAM) : start], behind].add(number[0])
    return found


def _letters(folded: str) -> str:
    return _NO_CONTENT.sub(" ", folded).strip()
