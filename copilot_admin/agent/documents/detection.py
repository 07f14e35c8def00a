"""Recognise a file by its content; its name and declared type only choose between kinds of text."""

from collections.abc import Sequence
from io import BytesIO
import re
import zipfile

from copilot_admin.agent.documents.document import UnreadableFile
from copilot_admin.agent.documents.office import OLD_CONTAINER
from copilot_admin.agent.documents.text_encodings import is_probably_text

HEAD_BYTES = 4096
_HTML = re.compile(rb"^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype html|html|head|body|table|meta)\b",
                   re.IGNORECASE | re.DOTALL)  # fmt: skip
_EMAIL = re.compile(rb"\A(?:[A-Za-z-]+: [^\r\n]*\r?\n(?:[ \t][^\r\n]*\r?\n)*){2}", re.MULTILINE)
_EMAIL_HEADER = re.compile(
    rb"^(From|Received|Return-Path|MIME-Version|Delivered-To): ", re.IGNORECASE | re.MULTILINE
)
# The first bytes of files that aren't documents, and their kinds.
_OTHERS = (
    (b"\x89PNG", "picture"),
    (b"\xff\xd8\xff", "picture"),
    (b"GIF8", "picture"),
    (b"\x1f\x8b", "compressed archive"),
    (b"7z\xbc\xaf", "compressed archive"),
    (b"Rar!", "compressed archive"),
    (b"SQLite format 3", "database"),
    (b"\x7fELF", "program"),
)
_OLD_STREAMS = (
    ("Workbook".encode("utf-16-le"), "xls"),
    ("Book".encode("utf-16-le"), "xls"),
    ("WordDocument".encode("utf-16-le"), "doc"),
    ("PowerPoint Document".encode("utf-16-le"), "ppt"),
)
_OLD = {"doc": "Word: save it as .docx", "ppt": "PowerPoint: save it as .pptx"}


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
    if data[:4] == b"PK\x03\x04":
        return _detect_archive(data)
    if data.startswith(OLD_CONTAINER):
        return _detect_old(data)
    if head.lstrip().startswith(b"{\\rtf"):
        return "rtf"
    for start, kind in _OTHERS:
        if data.startswith(start):
            raise UnreadableFile(f"It is a {kind}, not a document. Attach a document instead.")
    text = head.replace(b"\0", b"")  # also of UTF-16
    if _HTML.search(text):
        return "html"
    if not is_probably_text(head):
        raise UnreadableFile(
            "It is no document of a known kind. Save it as PDF, docx, xlsx, pptx or text."
        )
    if _is_email(head):
        return "eml"
    found = "json" if head.lstrip()[:1] in (b"{", b"[") else "txt"
    return next(iter(text_types), found)


def _is_email(head: bytes) -> bool:
    return bool(_EMAIL.match(head)) and len(_EMAIL_HEADER.findall(head)) >= 2


def _detect_archive(data: bytes) -> str:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            names = archive.namelist()
            if "mimetype" in names and names[0] == "mimetype":
                kind = archive.read("mimetype").decode("ascii", "replace")
                if "spreadsheet" in kind:
                    return "ods"
    except (zipfile.BadZipFile, OSError, RuntimeError) as error:
        raise UnreadableFile("The file is damaged. Save it again and attach that.") from error
    for folder, kind in (("word/", "docx"), ("xl/", "xlsx"), ("ppt/", "pptx")):
        if any(name.startswith(folder) for name in names):
            return kind
    if "content.xml" in names:
        raise UnreadableFile("OpenDocument texts aren't read. Save it as .docx and attach that.")
    raise UnreadableFile("It is an archive. Attach the files in it one by one.")


def _detect_old(data: bytes) -> str:
    """Return the type of a file in the container of old Office programs, by its streams."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise UnreadableFile("The file is locked with a password. Attach one without.")
    for stream, kind in _OLD_STREAMS:
        if stream in data:
            if kind in _OLD:
                raise UnreadableFile(f"It is of an old {_OLD[kind]}, and attach that.")
            return kind
    raise UnreadableFile(
        "It is of an old program. Save it as PDF, docx, xlsx, pptx or text and attach that."
    )
