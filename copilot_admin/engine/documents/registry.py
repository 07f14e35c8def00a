"""Finds what reads files: every module of this folder that declares a `Format`.

A format turns bytes into pages of text. It runs in a thread, so it may take its time, but within
the limits below: a hostile file costs a few seconds and no more memory than a large one.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import import_module
from io import BytesIO
from pkgutil import iter_modules
import time
from typing import TypeAlias
import zipfile

from copilot_admin.engine import documents
from copilot_admin.errors import CopilotError

MOST_PAGES = 300
MOST_SECONDS = 20.0  # of one file
MOST_CHARACTERS = 2_000_000
MOST_UNPACKED = 200 * 1024 * 1024  # bytes, of a format that is an archive


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
    """A page of a document, or a sheet of a workbook; `words` only where places are known."""

    number: int
    text: str
    name: str = ""
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file that was read; `left_out` says what of it was not, or nothing."""

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
        samples: A small file of each data type, and the text that is read in it.
    """

    data_types: tuple[str, ...]
    label: str
    read: Reader
    is_text: bool = False
    page_word: PageWord = PageWord.NONE
    samples: Mapping[str, tuple[bytes, str]] = field(default_factory=dict)


def data_types() -> frozenset[str]:
    """All kinds of file that can be read."""
    return frozenset(_formats())


def format_of(data_type: str) -> Format | None:
    """What reads this kind of file, if anything does."""
    return _formats().get(data_type)


def read_document(data: bytes, *, data_type: str, name: str) -> Document:
    """Reads a file; blocks, so call it in a thread.

    Raises:
        UnreadableFile: It is no such file, or it is locked, empty or too much.
    """
    form = _formats()[data_type]
    pages: list[DocumentPage] = []
    left_out, end = "", time.monotonic() + MOST_SECONDS
    try:
        for page in form.read(data):
            pages.append(page)
            if len(pages) >= MOST_PAGES or time.monotonic() >= end:
                left_out = f"[only the first {len(pages)} pages were read; the file has more]"
                break
            if sum(len(one.text) for one in pages) > MOST_CHARACTERS:
                left_out = f"[only the first {len(pages)} pages were read: too much text]"
                break
    except (ValueError, OSError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableFile(
            f"It is no {form.label}, or it is damaged. Attach it again."
        ) from error
    if not any(page.text.strip() for page in pages):
        raise UnreadableFile("It holds no text. A scan has to be recognised first.")
    return Document(name=name, pages=tuple(pages), left_out=left_out)


def check_archive(data: bytes) -> None:
    """Refuses an archive that unpacks to more than a file may have.

    Raises:
        UnreadableFile: It does.
        ValueError: It is no archive.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except zipfile.BadZipFile as error:
        raise ValueError("no archive") from error
    if size > MOST_UNPACKED:
        raise UnreadableFile("The file unpacks to more than 200 MB. Attach a smaller one.")


def _headed(page: DocumentPage, *, alone: bool) -> str:
    if page.name:
        return f"[sheet {page.name}]\n{page.text}"
    return page.text if alone and not page.words else f"[page {page.number}]\n{page.text}"


@cache
def _formats() -> Mapping[str, Format]:
    modules = (
        import_module(f"{documents.__name__}.{module.name}")
        for module in iter_modules(documents.__path__)
    )
    found = (value for module in modules for value in vars(module).values())
    return {kind: one for one in found if isinstance(one, Format) for kind in one.data_types}
