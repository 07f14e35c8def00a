"""Quotes of a document in an answer, and their boxes on its pages.

A quote is a run of at least five words that occurs in both, regardless of case and punctuation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from copilot_admin.agent.documents.document import Document, Word
from protocol.json import JsonObject

MIN_WORDS = 5  # shorter runs occur in many texts by chance
MAX_QUOTES = 5  # quotes of one document


@dataclass(frozen=True, slots=True)
class _Placed:
    """A normalized word of the document, with its place."""

    plain: str
    page: int
    word: Word


def find_quotes(answer: str, document: Document) -> tuple[tuple[JsonObject, ...], ...]:
    """Return the boxes of each quote, a box for each line, in the order of the answer.

    Cost is linear in the lengths of both texts, except if the document repeats the same five words:
    then the first place counts.
    """
    placed = [
        _Placed(plain, page.number, word)
        for page in document.pages
        for word in page.words
        if (plain := _plain(word.text))
    ]
    plain_words = [one.plain for one in placed]
    starts: dict[tuple[str, ...], int] = {}
    for index in range(len(plain_words) - MIN_WORDS + 1):
        starts.setdefault(tuple(plain_words[index : index + MIN_WORDS]), index)
    answer_words = [plain for text in answer.split() if (plain := _plain(text))]
    found = list(dict.fromkeys(_runs(answer_words, plain_words, starts)))[:MAX_QUOTES]
    return tuple(tuple(_boxes(placed[start:end])) for start, end in found)


def page_of(quote: Sequence[JsonObject]) -> int:
    """Return the page on which a quote begins."""
    return int(str(quote[0]["page"]))


def _runs(
    answer_words: Sequence[str], words: Sequence[str], starts: dict[tuple[str, ...], int]
) -> Iterator[tuple[int, int]]:
    index = 0
    while index <= len(answer_words) - MIN_WORDS:
        start = starts.get(tuple(answer_words[index : index + MIN_WORDS]))
        if start is None:
            index += 1
            continue
        length = MIN_WORDS
        while (
            index + length < len(answer_words)
            and start + length < len(words)
            and answer_words[index + length] == words[start + length]
        ):
            length += 1
        yield start, start + length
        index += length


def _boxes(run: Sequence[_Placed]) -> Iterator[JsonObject]:
    for (page, _), line in groupby(run, key=_line_of):
        words = [one.word for one in line]
        yield {
            "text": " ".join(word.text for word in words),
            "page": page,
            "x0": min(word.x0 for word in words),
            "top": min(word.top for word in words),
            "x1": max(word.x1 for word in words),
            "bottom": max(word.bottom for word in words),
        }


def _line_of(placed: _Placed) -> tuple[int, int]:
    return placed.page, round(placed.word.bottom / 4)


def _plain(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())
