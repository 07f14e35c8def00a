"""Documents, and the definition of a format that is read.

A format turns bytes into pages of text. It runs in a child process with limits on time and memory
(`copilot_admin/agent/files/worker.py`), so it may rely on being ended.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from io import BytesIO
from typing import TypeAlias
import zipfile

from copilot_admin.errors import CopilotError

MOST_NOTES = 10  # of one file are told one by one
LONGEST_NAME = 100  # characters, of a sheet; Excel takes 31, and its library whatever is written
MOST_UNPACKED = 200 * 1024 * 1024  # bytes, of a format that is an archive
MOST_MEMBERS = 10_000  # of such an archive; a document with many pictures has hundreds
# What each member begins with in an archive's list of them, of which the library makes an object
# each: 60,000 take 0.2 s, to count them a thousandth of that.
_MEMBER = b"PK\x01\x02"


class UnreadableFile(CopilotError):
    """A file cannot be read; the text says why."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word on a page and its box, in points from the upper left corner."""

    text: str
    x0: float
    top: float
    x1: float
    bottom: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPage:
    """A page of a document, or a sheet of a workbook; `words` only where places are known.

    `note` says in brackets what may be wrong with its text.
    """

    number: int
    text: str
    name: str = ""
    words: tuple[Word, ...] = ()
    note: str = ""

    @property
    def noun(self) -> str:
        """What people call it: only sheets have names."""
        return "sheet" if self.name else "page"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file that was read; `left_out` says what of it was not, or may be wrong, or nothing."""

    name: str
    pages: tuple[DocumentPage, ...]
    left_out: str = ""

    @property
    def text(self) -> str:
        """The whole text, page by page."""
        parts = [_headed(page, alone=len(self.pages) == 1) for page in self.pages]
        return "\n".join(filter(None, (*parts, self.left_out)))


Reader: TypeAlias = Callable[[bytes], Iterator[DocumentPage]]


class PageWord(StrEnum):
    """What people call the pages of a format."""

    NONE = "none"  # such a file has one; the reader makes more where it is cut
    PAGE = "page"
    SHEET = "sheet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format: the `data_type`s by which Workspace calls it, and what reads it.

    Attributes:
        read: Raises `UnreadableFile`, or `ValueError` or `OSError` for whatever else is wrong with
            a file.
        is_text: Any text is such a file, and may come as it is instead of in base64.
        page_word: How a transcript counts its pages.
        too_much: What to do where a file takes more time or memory than it may.
        no_text: What to do where one holds none, if anything can be done.
        samples: A small file of each data type, and the text that is read in it.
    """

    data_types: tuple[str, ...]
    label: str
    read: Reader
    is_text: bool = False
    page_word: PageWord = PageWord.NONE
    too_much: str = "Attach a part of it."
    no_text: str = ""
    samples: Mapping[str, tuple[bytes, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What is said, behind the pages of a file, of those that were not read."""

    note: str


# What a file becomes, one after the other: each page as soon as it is read.
Part: TypeAlias = DocumentPage | LeftOut


def document_of(parts: Iterable[Part], *, name: str) -> Document:
    """Puts the parts of a file together into a document."""
    given = tuple(parts)
    pages = tuple(one for one in given if isinstance(one, DocumentPage))
    left_out = (one.note for one in given if isinstance(one, LeftOut))
    return Document(
        name=name,
        pages=pages,
        left_out=_one_note(
            [*left_out, *(page.note for page in pages)], noun=pages[0].noun if pages else ""
        ),
    )


def broken_off(count: int, last: DocumentPage, why: str) -> LeftOut:
    """What is said of a file that breaks behind so many pages, of which this is the last."""
    return LeftOut(f"[{only_first(count, last)}: what follows {why}]")


def only_first(count: int, last: DocumentPage) -> str:
    if count == 1:
        return f"only the first {last.noun} was read"
    return f"only the first {count} {last.noun}s were read"


def _one_note(notes: Iterable[str], *, noun: str) -> str:
    said = [note.strip("[]") for note in notes if note]
    if len(said) > MOST_NOTES:
        said[MOST_NOTES:] = [f"{len(said) - MOST_NOTES:,} more {noun}s are incomplete"]
    return f"[{'; '.join(said)}]" if said else ""


def each_part(
    parts: Iterable[tuple[DocumentPage, Callable[[], DocumentPage]]], *, damage: type[Exception]
) -> Iterator[DocumentPage]:
    """Each page or sheet; one that is damaged, if only by one font or cell, says so.

    Args:
        parts: What stands in the place of each that cannot be read, and what reads it.
        damage: What is raised of one that cannot.

    Raises:
        ValueError: Some are damaged, and the others hold no text.
    """
    damaged, has_text = None, False
    for instead, read in parts:
        try:
            page = read()
        except damage as error:
            damaged, page = error, instead
        has_text = has_text or bool(page.text)
        yield page
    if damaged is not None and not has_text:
        raise ValueError("no part can be read") from damaged


def check_archive(data: bytes) -> None:
    """Refuses an archive that says of itself that it unpacks to more than a file may have.

    One that says less than is in it is cut where it should end, or ends the process that reads it.

    Raises:
        UnreadableFile: It does.
        ValueError: It is no archive.
    """
    if data.count(_MEMBER) > MOST_MEMBERS:
        raise UnreadableFile(f"The file has more than {MOST_MEMBERS:,} parts. Save it anew.")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            entries = archive.infolist()
    except zipfile.BadZipFile as error:
        raise ValueError("no archive") from error
    if sum(entry.file_size for entry in entries) > MOST_UNPACKED:
        raise UnreadableFile("The file unpacks to more than 200 MB. Attach a smaller one.")


def _headed(page: DocumentPage, *, alone: bool) -> str:
    if page.name:
        return f"[sheet {page.name}]\n{page.text}"
    return page.text if alone and not page.words else f"[page {page.number}]\n{page.text}"
