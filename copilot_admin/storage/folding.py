"""Texts as searches compare them: folded once, here, so that every database finds the same.

Databases fold letters beyond ASCII differently or not at all. A folded text has no case, one form of
each sign (NFKC), one blank for any number of them, and none of the signs that only format Markdown.
"""

from collections.abc import Iterable, Iterator
import re
import unicodedata

# Asterisks and backquotes stand between words that a reader sees side by side; the others nobody sees.
_UNSEEN = dict.fromkeys(map(ord, "*`\u00ad\u200b\u200c\u200d\u2060\ufeff\0"))
_DOTTED_I = "i\u0307"  # what becomes of a capital i with a dot
_CLUSTER = re.compile(r"\s+|\S", re.DOTALL)


def fold(text: str) -> str:
    """A text as it is compared; folding it again changes nothing."""
    return " ".join(_folded(text).split())


def folded_with_places(text: str) -> tuple[str, list[tuple[int, int]]]:
    """A folded text, and for each of its signs where it stood: from one place to before another.

    Blanks at the ends stay, one of each.
    """
    signs: list[str] = []
    places: list[tuple[int, int]] = []
    for start, cluster in _clusters(text):
        folded = " " if cluster.isspace() else _folded(cluster)
        signs.append(folded)
        places += [(start, start + len(cluster))] * len(folded)
    return "".join(signs), places


def _folded(text: str) -> str:
    plain = text.translate(_UNSEEN)
    if plain.isascii():
        return plain.lower()
    composed = unicodedata.normalize("NFKC", plain).casefold()
    return unicodedata.normalize("NFKC", composed).replace(_DOTTED_I, "i")


def _clusters(text: str) -> list[tuple[int, str]]:
    """Blanks side by side, and signs with the marks that follow them; with their places."""
    found: list[tuple[int, str]] = []
    for match in _CLUSTER.finditer(text):
        sign = match.group()
        if found and unicodedata.combining(sign[0]) and not found[-1][1].isspace():
            start, before = found[-1]
            found[-1] = (start, before + sign)
        else:
            found.append((match.start(), sign))
    return found


def spans_of(text: str, phrases: Iterable[str]) -> list[tuple[int, int]]:
    """Where folded phrases are in a text: places of the text, in order, none over another."""
    folded, places = folded_with_places(text)
    found = sorted(
        (places[start][0], places[start + len(phrase) - 1][1])
        for phrase in phrases
        for start in _starts(folded, phrase)
    )
    spans: list[tuple[int, int]] = []
    for start, end in found:
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def _starts(folded: str, phrase: str) -> Iterator[int]:
    start = folded.find(phrase) if phrase else -1
    while start >= 0:
        yield start
        start = folded.find(phrase, start + len(phrase))
