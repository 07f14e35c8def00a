"""The formats of documents that are read. A new one is a row of `FORMATS`."""

from collections.abc import Iterator
from dataclasses import replace
import time

from copilot_admin.agent.documents.formats import (
    LONGEST_NAME,
    Document,
    DocumentPage,
    Format,
    LeftOut,
    Part,
    UnreadableFile,
    broken_off,
    document_of,
    only_first,
)
from copilot_admin.agent.documents.pdf import PDF
from copilot_admin.agent.documents.plain import HTML, TEXT
from copilot_admin.agent.documents.word import WORD
from copilot_admin.agent.documents.workbook import WORKBOOK

MOST_PAGES = 300
MOST_SECONDS = 10.0  # of CPU, of one file; what has been read by then is given
MOST_CHARACTERS = 2_000_000
MOST_WORDS = 150_000  # whose places are known; 300 pages have about as many
FORMATS: tuple[Format, ...] = (
    HTML,
    PDF,
    TEXT,
    WORD,
    WORKBOOK,
)


def data_types() -> frozenset[str]:
    """Return the data types of all files that can be read."""
    return frozenset(kind for form in FORMATS for kind in form.data_types)


def format_of(data_type: str) -> Format | None:
    """Return the format of a data type, if it can be read."""
    return next((form for form in FORMATS if data_type in form.data_types), None)


def read_document(data: bytes, *, data_type: str, name: str) -> Document:
    """Read a file in this process; servers use `copilot_admin/agent/files/file_processes.py`.

    Raises:
        UnreadableFile: It is another kind of file, or it is locked, empty or too much.
    """
    return document_of(list(parts_of(data, data_type=data_type)), name=name)


def parts_of(data: bytes, *, data_type: str) -> Iterator[Part]:
    """Read a file page by page. A damaged one yields the pages before the damage.

    Raises:
        UnreadableFile: As with `read_document`.
        KeyError: The data type isn't one of `data_types()`.
    """
    if (form := format_of(data_type)) is None:
        raise KeyError(data_type)
    count, last, has_text = 0, None, False
    try:
        for part in _within_limits(form.read(data)):
            if isinstance(part, DocumentPage):
                count, last, has_text = count + 1, part, has_text or bool(part.text.strip())
            yield part
    except (ValueError, OSError, KeyError, TypeError, AttributeError) as error:
        if last is None or not has_text:
            raise UnreadableFile(
                f"It is no {form.label}, or it is damaged. Attach it again."
            ) from error
        yield broken_off(count, last, "is damaged")
    if not has_text:
        raise UnreadableFile(f"It holds no text. {form.no_text}".rstrip())


def _within_limits(pages: Iterator[DocumentPage]) -> Iterator[Part]:
    end = time.process_time() + MOST_SECONDS
    characters, words = MOST_CHARACTERS, MOST_WORDS
    for count, page in enumerate(pages, start=1):
        # Words that are longer together than the text may be have no places either.
        is_placed = len(page.words) <= words and len(page.text) <= characters
        placed = page.words if is_placed else ()
        name, text = page.name[:LONGEST_NAME], page.text[:characters]
        yield replace(page, name=name, text=text, words=placed)
        characters -= len(page.text)
        words -= len(placed)
        if characters < 0:
            yield LeftOut(
                f"[only the first {MOST_CHARACTERS:,} characters were read: too much text]"
            )
            return
        if count >= MOST_PAGES or time.process_time() >= end:
            yield LeftOut(f"[{only_first(count, page)}; the file has more]")
            return
