"""Quotes of a document in an answer, and their boxes on its pages.

A quote is a run of at least five words that occurs in both, regardless of case and punctuation.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, takewhile

from copilot_admin.agent.documents.document import Document, Word
from protocol.json import JsonObject

MIN_WORDS = 5  # shorter runs occur in many texts by chance
MAX_QUOTES = 5  # quotes of one document


def find_quotes(answer: str, document: Document) -> tuple[tuple[JsonObject, ...], ...]:
    """Return the boxes of each quote, a box for each line, in the order of the answer.

    Cost is linear in the lengths of both texts, except if the document repeats the same five words:
    then the first place counts.
    """
    placed = [(page.number, word) for page in document.pages for word in page.words]
    placed = [(number, word) for number, word in placed if _plain(word.text)]
    words = [_plain(word.text) for _, word in placed]
    starts: dict[tuple[str, ...], int] = {}
    for index in range(len(words) - MIN_WORDS + 1):
        starts.setdefault(tuple(words[index : index + MIN_WORDS]), index)
    answer_words = [plain for text in answer.split() if (plain := _plain(text))]
    found = list(dict.fromkeys(_runs(answer_words, words, starts)))[:MAX_QUOTES]
    return tuple(tuple(_boxes(placed[start:end])) for start, end in found)


def page_of(quote: Sequence[JsonObject]) -> int:
    """Return the page on which a quote begins."""
    return int(str(quote[0]["page"]))


def _runs(
    answer_words: Sequence[str], words: Sequence[str], starts: Mapping[tuple[str, ...], int]
) -> Iterator[tuple[int, int]]:
    index = 0
    while index <= len(answer_words) - MIN_WORDS:
        start = starts.get(tuple(answer_words[index : index + MIN_WORDS]))
        length = 0
        if start is not None:
            pairs = zip(
                answer_words[index:], words[start : start + len(answer_words)], strict=False
            )
            length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            yield start, start + length
        index += length or 1


def _boxes(run: Sequence[tuple[int, Word]]) -> Iterator[JsonObject]:
    for (page, _), line in groupby(run, key=lambda one: (one[0], round(one[1].bottom / 4))):
        words = [word for _, word in line]
        yield {
            "text": " ".join(word.text for word in words),
            "page": page,
            "x0": min(word.x0 for word in words),
            "top": min(word.top for word in words),
            "x1": max(word.x1 for word in words),
            "bottom": max(word.bottom for word in words),
        }


def _plain(text: str) -> str:
    letters = (one for one in text.lower() if one.isalpha() or one.isdecimal())
    return "".join(letters)  # without the marks of footnotes
