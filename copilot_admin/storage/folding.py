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
_DOTLESS_I = "\u0131"  # Turkish: its capital is I, which is that of i everywhere else
# Vowels and ends of Korean syllables, and half-wide marks of Japanese ones.
_PARTS = frozenset(map(chr, (*range(0x1160, 0x1200), *range(0xD7B0, 0xD800), 0xFF9E, 0xFF9F)))
_CLUSTER = re.compile(r"\s+|\S", re.DOTALL)
# Every accent is such a character. To put a run of them in order takes the square of its length, and
# no language has as many.
_TOO_MANY_ACCENTS = re.compile(r"([^\w\s\x00-\x7f]{30})[^\w\s\x00-\x7f]+")


def fold(text: str) -> str:
    """A text as it is compared; folding it again changes nothing."""
    return " ".join(_folded(text).split())


def folded_with_places(text: str) -> tuple[str, list[tuple[int, int]]]:
    """A folded text, and for each of its signs where it stood: from one place to before another.

    Blanks at the ends stay, one of each. Those around a sign that is dropped are one.
    """
    signs: list[str] = []
    places: list[tuple[int, int]] = []
    for start, cluster in _clusters(text):
        end = start + len(cluster)
        for sign in _folded(cluster):
            if not sign.isspace():
                signs.append(sign)
                places.append((start, end))
            elif signs and signs[-1] == " ":
                places[-1] = (places[-1][0], end)
            else:
                signs.append(" ")
                places.append((start, end))
    return "".join(signs), places


def _folded(text: str) -> str:
    plain = text.translate(_UNSEEN)
    if plain.isascii():
        return plain.lower()
    plain = _TOO_MANY_ACCENTS.sub(r"\1", plain)
    composed = unicodedata.normalize("NFKC", plain).casefold()
    return unicodedata.normalize("NFKC", composed).replace(_DOTTED_I, "i").replace(_DOTLESS_I, "i")


def _clusters(text: str) -> Iterator[tuple[int, str]]:
    """Blanks side by side, and signs with what becomes a part of them; with their places."""
    start, end = 0, 0
    for match in _CLUSTER.finditer(text):
        is_part = _is_part(text[match.start()])
        if end and not (is_part and not text[start].isspace()):
            yield start, text[start:end]
            start = match.start()
        end = match.end()
    if end:
        yield start, text[start:end]


def _is_part(sign: str) -> bool:
    """Whether a sign may become a part of the one before it."""
    return sign > "\x7f" and (sign in _PARTS or unicodedata.category(sign)[0] == "M")


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
