"""Recognise a file by its content; its name and declared type only choose between kinds of text."""

from collections.abc import Sequence
from io import BytesIO
import re
import zipfile

from copilot_admin.agent.documents.document import UnreadableFile
from copilot_admin.agent.documents.text_encodings import is_probably_text

HEAD_BYTES = 4096
_OLD_CONTAINER = bytes.fromhex("d0cf11e0a1b11ae1")
_HTML = re.compile(rb"^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype html|html|head|body|table|meta)\b",
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


def detect_content_type(data: bytes, *, text_types: Sequence[str] = ()) -> str:
    """Return the `data_type` of a file by its content.

    Args:
        data: The file.
        text_types: Declared types of text, the likeliest first.

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
    return next(iter(text_types), found)


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
