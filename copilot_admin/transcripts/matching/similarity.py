"""How alike two texts are, one of which may have been cut or laid out anew."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from html import unescape
from itertools import pairwise
import re
import unicodedata

# Measured: of two long texts about different things one has up to 0.97 of the other's groups of three
# letters, and a third of those of eight; a text that was laid out anew keeps eight tenths of these.
GRAM = 8
ANCHOR = 2  # words that stand together in both texts, and only once in each, are the same place
COMPARED = 2000  # characters; an answer is recognised long before its end
BEHIND = 2  # letters behind a number that tell where it stands: a blank and the next word's first
_NUMBER = re.compile(r"\d+")
_SEPARATOR = re.compile(r"(?<=\d)[.,'\u2019](?=\d)")  # 1,204.5 is 1204,5 elsewhere
_NO_CONTENT = re.compile(r"[\W_]+")
# A tag of HTML, and where a link of Markdown leads: one client sends these, another what is seen of them.
_TAG = re.compile(r"</?[a-z][^<>]*>")
_TARGET = re.compile(r"(?<=\])\([^()\s]*(?:\s[^()]*)?\)")


class Compared:
    """The beginning of a text, made ready to be compared with others."""

    def __init__(self, text: str) -> None:
        self._is_whole = len(text) < COMPARED
        self._folded = _folded(text[:COMPARED])
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

    def says_the_same(self, other: "Compared") -> bool:
        """Whether they have the same letters to their ends, which of a long text nobody looks at."""
        return self._is_whole and other._is_whole and self.letters == other.letters

    def contradicts(self, other: "Compared") -> bool:
        """Whether they say another number, or other words, where they say the same otherwise.

        A text that was cut or laid out anew says what it said; one that was made in the same way of other
        data does not.
        """
        here, there = _numbers(self._folded), _numbers(other._folded)
        if any(here[place].isdisjoint(there[place]) for place in here.keys() & there.keys()):
            return True
        return _says_other_words(self.letters.split(), other.letters.split())


def likeness(one: str, other: str) -> float:
    """How alike two texts are; see `Compared.likeness`."""
    return Compared(one).likeness(Compared(other))


def _folded(text: str) -> str:
    """What is seen of a text that is Markdown or HTML, in one case and one spelling."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return unescape(_TAG.sub(" ", _TARGET.sub("", plain)))


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


def _says_other_words(here: Sequence[str], there: Sequence[str]) -> bool:
    """Whether, before or between places of both texts, each has words that the other has not.

    Markup that was lost, a citation that was added and a text that was cut are of one text only. Behind the
    last place a cut text may say so, and not what was there.
    """
    elsewhere = _anchors(there)
    places = [(at, elsewhere[words]) for words, at in _anchors(here).items() if words in elsewhere]
    if not places:
        return False
    (first, other_first), *_ = places
    start, other_start = here[:first], there[:other_first]
    was_cut = not (start and other_start) or _is_end(start[-1], other_start[-1])
    return (not was_cut and _differ(start, other_start)) or any(
        _differ(here[begin + ANCHOR : end], there[other_begin + ANCHOR : other_end])
        for (begin, other_begin), (end, other_end) in pairwise(places)
    )


def _differ(one: Iterable[str], other: Iterable[str]) -> bool:
    """Whether each passage has words that the other has not; people write numbers in many ways."""
    here, there = ({word for word in words if not word.isdecimal()} for words in (one, other))
    return bool(here - there and there - here)


def _is_end(one: str, other: str) -> bool:
    """Whether a word is the end of the other: the text was cut within it."""
    return one.endswith(other) or other.endswith(one)


def _anchors(words: Sequence[str]) -> Mapping[tuple[str, ...], int]:
    """Where words stand that stand together once, in the order of the text."""
    together = list(zip(*(words[start:] for start in range(ANCHOR)), strict=False))
    often = Counter(together)
    return {group: at for at, group in enumerate(together) if often[group] == 1}


def _letters(folded: str) -> str:
    return _NO_CONTENT.sub(" ", folded).strip()
