"""The formats of documents, and a reader with limits; it runs in a worker process.

A file is recognised by its content; its name and declared type only choose between kinds of text.
"""

from collections.abc import Iterator
from dataclasses import replace
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from io import BytesIO
import re
import time
import zipfile

from copilot_admin.agent.documents.document import (
    DocumentPage,
    Format,
    Part,
    UnreadableFile,
    describe_cut,
)
from copilot_admin.agent.documents.html import HTML, html_to_text
from copilot_admin.agent.documents.pdf import PDF
from copilot_admin.agent.documents.slides import SLIDES
from copilot_admin.agent.documents.spreadsheet import SPREADSHEET
from copilot_admin.agent.documents.text_encodings import RTF, TEXT, is_probably_text
from copilot_admin.agent.documents.word import WORD
from protocol.json import clean_text

MAX_PAGES = 300
MAX_SECONDS = 10.0  # of CPU, of one file; pages read until then are returned
MAX_CHARACTERS = 2_000_000
MAX_WORDS = 150_000  # whose places are known; 300 pages have about as many
MAX_NAME_LENGTH = 100  # of a sheet
MAX_ATTACHMENTS = 20
HEAD_BYTES = 4096
_EMAIL_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_OLD_CONTAINER = bytes.fromhex("d0cf11e0a1b11ae1")
_HTML = re.compile(rb"^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype html|html|head|body|table|meta)\b",
                   re.IGNORECASE | re.DOTALL)  # fmt: skip
_EMAIL = re.compile(rb"\A(?:[A-Za-z-]+: [^\r\n]*\r?\n(?:[ \t][^\r\n]*\r?\n)*){2}", re.MULTILINE)
_EMAIL_HEADER = re.compile(
    rb"^(From|Received|Return-Path|MIME-Version|Delivered-To): ", re.IGNORECASE | re.MULTILINE
)
# The kinds of files that aren't documents, and their first bytes.
_OTHERS = {
    "picture": (b"\x89PNG", b"\xff\xd8\xff", b"GIF8"),
    "compressed archive": (b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!"),
    "database": (b"SQLite format 3",),
    "program": (b"\x7fELF",),
}
_ARCHIVES = {"word/": "docx", "xl/": "xlsx", "ppt/": "pptx"}
# Streams in files of old programs, and the advice on files that have them.
_OLD_STREAMS = {
    "EncryptedPackage": "The file is locked with a password. Attach one without.",
    "Workbook": "xls",
    "Book": "xls",
    "WordDocument": "It is of an old Word: save it as .docx, and attach that.",
    "PowerPoint Document": "It is of an old PowerPoint: save it as .pptx, and attach that.",
    "": "It is of an old program. Save it as PDF, docx, xlsx, pptx or text and attach that.",
}


def _read_email(data: bytes) -> Iterator[DocumentPage]:
    """Yield the message, then the pages of its attachments."""
    message = BytesParser(policy=policy.default).parsebytes(data)
    headers = [f"{name}: {message[name]}" for name in _EMAIL_HEADERS if message.get(name)]
    body = message.get_body(preferencelist=("plain", "html"))
    content = body.get_content() if body else ""
    text = html_to_text(content) if body and body.get_content_subtype() == "html" else content
    yield DocumentPage(number=1, text="\n".join((*headers, "", text.strip())).strip())
    number = 1
    attachments = list(message.iter_attachments())
    for index, part in enumerate(attachments[:MAX_ATTACHMENTS], start=1):
        name = part.get_filename() or f"attachment {index}"
        for page in _read_attachment(part, name):
            number += 1
            title = f"{name}, {page.name}" if page.name else name
            yield replace(page, number=number, name=title, words=(), noun="attachment")
    if len(attachments) > MAX_ATTACHMENTS:
        note = f"[only the first {MAX_ATTACHMENTS} attachments were read]"
        yield DocumentPage(
            number=number + 1, text="", name="more attachments", note=note, noun="attachment"
        )


def _read_attachment(part: EmailMessage, name: str) -> Iterator[DocumentPage]:
    content = part.get_content() if part.get_content_type() == "message/rfc822" else None
    data = bytes(content) if content is not None else part.get_payload(decode=True)
    data = data if isinstance(data, bytes) else b""
    try:
        yield from _get_format(detect_data_type(data, name=name)).read(data)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  # libraries raise anything for a damaged file
        reason = error.public if isinstance(error, UnreadableFile) else "it is damaged"
        yield DocumentPage(number=1, text="", note=f"[attachment {name}: {reason}]")


EMAIL = Format(data_types=("eml",), label="e-mail", read=_read_email, is_text=True)
FORMATS: tuple[Format, ...] = (PDF, WORD, SPREADSHEET, SLIDES, HTML, TEXT, EMAIL, RTF)


def data_types() -> frozenset[str]:
    """Return all `data_type`s that can be read."""
    return frozenset(kind for one in FORMATS for kind in one.data_types)


def format_of(data_type: str) -> Format | None:
    """Return the format of a `data_type`, if it can be read."""
    return next((one for one in FORMATS if data_type in one.data_types), None)


def _get_format(data_type: str) -> Format:
    return next(one for one in FORMATS if data_type in one.data_types)


def detect_data_type(data: bytes, *, declared: str = "", name: str = "") -> str:
    """Return the `data_type` of a file by its content.

    Raises:
        UnreadableFile: Its kind is not supported; the text describes the remedy.
    """
    head = data[:HEAD_BYTES]
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if data.startswith(b"PK\x03\x04"):
        return _detect_archive(data)
    if data.startswith(_OLD_CONTAINER):
        return _detect_old(data)
    if head.lstrip().startswith(b"{\\rtf"):
        return "rtf"
    for kind, starts in _OTHERS.items():
        if data.startswith(starts):
            raise UnreadableFile(f"It is a {kind}, not a document. Attach a document instead.")
    if _HTML.search(head.replace(b"\0", b"")):  # also of UTF-16
        return "html"
    if not is_probably_text(head):
        raise UnreadableFile(
            "It is no document of a known kind. Save it as PDF, docx, xlsx, pptx or text."
        )
    if _EMAIL.match(head) and len(_EMAIL_HEADER.findall(head)) >= 2:
        return "eml"
    found = "json" if head.lstrip().startswith((b"{", b"[")) else "txt"
    hints = (declared, name.rpartition(".")[2].lower())
    return next((one for one in hints if (form := format_of(one)) and form.is_text), found)


def _detect_old(data: bytes) -> str:
    found = next(name for name in _OLD_STREAMS if name.encode("utf-16-le") in data)
    if _OLD_STREAMS[found] == "xls":
        return "xls"
    raise UnreadableFile(_OLD_STREAMS[found])


def _detect_archive(data: bytes) -> str:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            names = archive.namelist()
            mimetype = archive.read("mimetype") if "mimetype" in names else b""
    except (zipfile.BadZipFile, OSError, RuntimeError) as error:
        raise UnreadableFile("The file is damaged. Save it again and attach that.") from error
    if b"spreadsheet" in mimetype:
        return "ods"
    for folder, kind in _ARCHIVES.items():
        if any(name.startswith(folder) for name in names):
            return kind
    if "content.xml" in names:
        raise UnreadableFile("OpenDocument texts aren't read. Save it as .docx and attach that.")
    raise UnreadableFile("It is an archive. Attach the files in it one by one.")


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
            yield f"[only the first {MAX_CHARACTERS:,} characters were read: too much text]"
            return
        if count >= MAX_PAGES or time.process_time() >= end:
            if next(pages, None) is not None:
                yield describe_cut(count, page.noun, "; the file has more")
            return
