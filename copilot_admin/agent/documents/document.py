"""A file that was read: pages of text, the places of terms and quotes, notes on omitted parts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, takewhile
from typing import NamedTuple, TypeAlias

from copilot_admin.errors import CopilotError
from protocol.json import JsonObject

MAX_NOTES = 10  # of one file that are listed separately
MIN_WORDS = 5  # shorter runs occur in many texts by chance
MAX_QUOTES = 5  # quotes of one document


class UnreadableFile(CopilotError):
    """A file can't be read; the text has the reason and the remedy."""


class Word(NamedTuple):
    """A unit of text on a page and its box, in points from the upper left corner."""

    text: str
    x0: float
    top: float
    x1: float
    bottom: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPage:
    """A page of a document, a slide, or a sheet of a workbook."""

    number: int
    text: str
    name: str = ""  # of a sheet or an attachment
    words: tuple[Word, ...] = ()  # only if their places are known
    note: str = ""  # in brackets: missing or possibly wrong parts of its text
    picture: str = field(default="", repr=False)  # of a page without text, as a `data:` URL
    noun: str = "page"  # or "slide", "sheet", "attachment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file that was read; `left_out` describes omitted parts, or is empty."""

    name: str
    pages: tuple[DocumentPage, ...]
    left_out: str = ""

    @property
    def text(self) -> str:
        """The complete text, page by page."""
        parts = [page.text for page in self.pages]
        if len(self.pages) > 1 or any(page.words or page.name for page in self.pages):
            headings = (f"[{page.noun} {page.name or page.number}]" for page in self.pages)
            parts = [f"{heading}\n{text}" for heading, text in zip(headings, parts, strict=True)]
        return "\n".join(filter(None, (*parts, self.left_out)))


Part: TypeAlias = DocumentPage | str  # a text is a note on pages that weren't read
Reader: TypeAlias = Callable[[bytes], Iterator[DocumentPage]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A file format: its `data_type`s and its reader."""

    data_types: tuple[str, ...]
    label: str
    read: Reader  # raises `UnreadableFile` with a sentence; other errors mean a damaged file
    read_with_pictures: Reader | None = None  # the same, with pages without text as pictures
    is_text: bool = False  # any text is a valid file, and may be sent as it is or in base64
    page_word: str = ""  # "page" or "sheet"; empty for a file that is a single page
    too_much: str = "Attach a part of it."  # remedy if it needs too much time or memory
    no_text: str = ""  # remedy if a file contains no text


def build_document(parts: Iterable[Part], *, name: str) -> Document:
    given = tuple(parts)
    pages = tuple(one for one in given if isinstance(one, DocumentPage))
    notes = [one for one in given if isinstance(one, str)]
    notes += [page.note for page in pages if page.note]
    found = list(dict.fromkeys(note.strip("[]") for note in notes))
    if len(found) > MAX_NOTES:
        found[MAX_NOTES:] = [f"{len(found) - MAX_NOTES:,} more {pages[0].noun}s are incomplete"]
    return Document(name=name, pages=pages, left_out=f"[{'; '.join(found)}]" if found else "")


def describe_cut(count: int, noun: str, reason: str) -> str:
    """Return the note on a file of which so many pages were read."""
    first = f"{count} {noun}s were" if count > 1 else f"{noun} was"
    return f"[only the first {first} read{reason}]"


def find_quotes(answer: str, document: Document) -> tuple[tuple[JsonObject, ...], ...]:
    """Return the boxes of each quote, a box for each line, in the order of the answer.

    A quote is a run of at least five words that occurs in both texts, regardless of case and
    punctuation. If the document repeats the same five words, the first place counts. The cost is
    linear in the lengths of both texts.
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
