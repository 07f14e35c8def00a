"""Text as search compares it: lower case, NFKC, single blanks, and no signs that only format Markdown.

Databases fold letters beyond ASCII differently or not at all, so it is done here for both.
"""

from collections.abc import Iterable, Iterator
import re
import unicodedata

# Asterisks and backquotes format Markdown; the others are invisible.
_REMOVED = dict.fromkeys(map(ord, "*`\u00ad\u200b\u200c\u200d\u2060\ufeff\0"))
_DOTTED_I = "i\u0307"  # the lower case of a capital i with a dot
_DOTLESS_I = "\u0131"  # Turkish: its capital is I, as that of i is everywhere else
# Normalisation takes the square of the length of a run of accents, and no language has 30.
_EXCESS_ACCENTS = re.compile(r"([^\w\s\x00-\x7f]{30})[^\w\s\x00-\x7f]+")


def normalize(text: str) -> str:
    """Return a text as it is compared; normalizing it again changes nothing."""
    return " ".join(_fold(text).split())


def find_spans(text: str, phrases: Iterable[str]) -> list[tuple[int, int]]:
    """Return where normalized phrases are in a text: start and end, in order, merged where they touch."""
    folded, places = _fold_with_places(text)
    found = sorted(
        (places[match.start()][0], places[match.end() - 1][1])
        for phrase in phrases
        if phrase
        for match in re.finditer(re.escape(phrase), folded)
    )
    spans: list[tuple[int, int]] = []
    for start, end in found:
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def _fold(text: str) -> str:
    plain = text.translate(_REMOVED)
    if plain.isascii():
        return plain.lower()
    plain = _EXCESS_ACCENTS.sub(r"\1", plain)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", plain).casefold())
    return folded.replace(_DOTTED_I, "i").replace(_DOTLESS_I, "i")


def _fold_with_places(text: str) -> tuple[str, list[tuple[int, int]]]:
    folded: list[str] = []
    places: list[tuple[int, int]] = []
    for start, end in _clusters(text):
        for character in _fold(text[start:end]):
            if character.isspace() and folded and folded[-1] == " ":
                places[-1] = (places[-1][0], end)
                continue
            folded.append(" " if character.isspace() else character)
            places.append((start, end))
    return "".join(folded), places


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for end in range(1, len(text)):
        if text[start].isspace() or not unicodedata.combining(text[end]):
            yield start, end
            start = end
    if text:
        yield start, len(text)
