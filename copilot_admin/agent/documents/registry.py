"""The formats of documents, and a reader with limits; it runs in a worker process.

A format turns bytes into pages of text. The size that a file declares is checked first, if it
declares one. The text read from it has the limits below, and the process has limits of its own.
"""

from collections.abc import Iterator
from dataclasses import replace
import time

from copilot_admin.agent.documents.detection import detect_content_type
from copilot_admin.agent.documents.document import (
    DocumentPage,
    Format,
    LeftOut,
    Part,
    UnreadableFile,
    describe_cut,
)
from copilot_admin.agent.documents.email import RTF, read_email
from copilot_admin.agent.documents.html import HTML
from copilot_admin.agent.documents.pdf import PDF
from copilot_admin.agent.documents.slides import SLIDES
from copilot_admin.agent.documents.spreadsheet import SPREADSHEET
from copilot_admin.agent.documents.text_encodings import TEXT
from copilot_admin.agent.documents.word import WORD
from protocol.json import clean_text

MAX_PAGES = 300
MAX_SECONDS = 10.0  # of CPU, of one file; pages read until then are returned
MAX_CHARACTERS = 2_000_000
MAX_WORDS = 150_000  # whose places are known; 300 pages have about as many
MAX_NAME_LENGTH = 100  # of a sheet
MAX_NESTING = 2  # messages attached to messages


def _read_message(data: bytes, *, depth: int = 0) -> Iterator[DocumentPage]:
    def read_attachment(attached: bytes, name: str) -> Iterator[DocumentPage]:
        kind = detect_data_type(attached, name=name)
        if kind != "eml":
            return _get_format(kind).read(attached)
        if depth >= MAX_NESTING:
            raise UnreadableFile("It lies too deep in other messages. Attach it by itself.")
        return _read_message(attached, depth=depth + 1)

    return read_email(data, read_attachment)


EMAIL = Format(data_types=("eml",), label="e-mail", read=_read_message, is_text=True)
FORMATS: tuple[Format, ...] = (PDF, WORD, SPREADSHEET, SLIDES, HTML, TEXT, EMAIL, RTF)


def data_types() -> frozenset[str]:
    """Return all `data_type`s that can be read."""
    return frozenset(kind for one in FORMATS for kind in one.data_types)


def format_of(data_type: str) -> Format | None:
    """Return the format of a `data_type`, if it can be read."""
    return next((one for one in FORMATS if data_type in one.data_types), None)


def _get_format(data_type: str) -> Format:
    found = format_of(data_type)
    if found is None:
        raise UnreadableFile("Files of this kind aren't read. Save it as PDF, docx, xlsx or text.")
    return found


def detect_data_type(data: bytes, *, declared: str = "", name: str = "") -> str:
    """Return the `data_type` of a file; its declared type and suffix choose between kinds of text.

    Raises:
        UnreadableFile: Its kind is not supported; the text describes the remedy.
    """
    hints = (declared, name.rpartition(".")[2].lower())
    text_types = [kind for kind in hints if (form := format_of(kind)) and form.is_text]
    return detect_content_type(data, text_types=text_types)


def parts_of(
    data: bytes, *, data_type: str, name: str = "", pictures: bool = False
) -> Iterator[Part]:
    """Yield a file's pages, recognised by content; an error after some text truncates the file.

    Raises:
        UnreadableFile: Its kind is not supported, or it is locked, empty or too large.
    """
    form = _get_format(detect_data_type(data, declared=data_type, name=name))
    read = (form.read_with_pictures if pictures else None) or form.read
    count, noun, has_content = 0, "page", False
    try:
        for part in _within_limits(read(data)):
            if isinstance(part, DocumentPage):
                count, noun = count + 1, part.noun
                has_content = has_content or bool(part.text.strip() or part.note)
            yield part
    except (UnreadableFile, MemoryError):
        raise
    except Exception as error:  # libraries raise anything for a damaged file
        if not has_content:
            raise UnreadableFile(
                f"It is no {form.label}, or it is damaged. Attach it again."
            ) from error
        yield describe_cut(count, noun, ": what follows is damaged")
    if not has_content:
        raise UnreadableFile(f"It holds no text. {form.no_text}".rstrip())


def _within_limits(pages: Iterator[DocumentPage]) -> Iterator[Part]:
    end = time.process_time() + MAX_SECONDS
    characters, words = MAX_CHARACTERS, MAX_WORDS
    for count, page in enumerate(pages, start=1):
        # Without places if the text is too long for them or is cut below.
        is_placed = len(page.words) <= words and len(page.text) <= characters
        placed = page.words if is_placed else ()
        yield replace(
            page,
            name=clean_text(page.name[:MAX_NAME_LENGTH]),
            text=clean_text(page.text[:characters]),
            note=clean_text(page.note),
            words=placed,
        )
        characters -= len(page.text)
        words -= len(placed)
        if characters < 0:
            yield LeftOut(
                f"[only the first {MAX_CHARACTERS:,} characters were read: too much text]"
            )
            return
        if count >= MAX_PAGES or time.process_time() >= end:
            if next(pages, None) is not None:
                yield describe_cut(count, page.noun, "; the file has more")
            return
