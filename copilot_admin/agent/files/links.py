"""Links: those in a question become files of it, and the kind of file behind one is found out."""

from dataclasses import replace
from pathlib import PurePosixPath

from copilot_admin.agent.documents.registry import format_of
from copilot_admin.agent.files.rules import LINK
from protocol.messages import FileReference, SourceData
from protocol.query import ContextItem, Query
from protocol.redaction import redact_url

# `data_type`s that say nothing of the bytes: none at all, and an object, which may be any data.
OPEN_TYPES = frozenset({"", "object", LINK})
_BEGINNINGS = (
    (b"%PDF-", "pdf"),
    (b"\x89PNG", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF8", "gif"),
    (b"\xd0\xcf\x11\xe0", "xls"),
)
_ARCHIVE = b"PK\x03\x04"
_PARTS = ((b"word/", "docx"), (b"xl/", "xlsx"))  # names of files within an Office archive
_HEAD = 1024  # bytes
_TAIL = 64 * 1024  # bytes; an archive lists its parts at its end


def with_links(query: Query) -> Query:
    """The query with what is behind the addresses in its question as files of its context."""
    if not query.urls:
        return query
    return replace(query, context=(*query.context, *map(_linked, dict.fromkeys(query.urls))))


def _linked(url: str) -> ContextItem:
    address = url if "://" in url else f"https://{url}"
    reference = FileReference(url=address, data_format={"data_type": LINK}, citable=False)
    return ContextItem(
        name=name_of_link(url),
        description="Behind an address in the question.",
        data=SourceData((reference,)),
    )


def kind_behind(url: str, data: bytes) -> str:
    """The kind of file that some bytes are; text where nothing says otherwise."""
    head = data[:_HEAD]
    for beginning, kind in _BEGINNINGS:
        if head.startswith(beginning):
            return kind
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "webp"
    if head.startswith(_ARCHIVE):
        listed = data[-_TAIL:]
        return next((kind for part, kind in _PARTS if part in listed), "txt")
    return _text_kind(url, head)


def name_of_link(url: str) -> str:
    """What people are told of a link: its address, without what only the client may know."""
    return redact_url(url)


def _suffix(url: str) -> str:
    path = url.partition("#")[0].partition("?")[0]
    return PurePosixPath(path).suffix.lower().removeprefix(".")


def _text_kind(url: str, head: bytes) -> str:
    start = head.lower()
    if b"<!doctype html" in start or b"<html" in start:
        return "html"
    kind = _suffix(url)
    form = format_of(kind)
    return kind if form is not None and form.is_text else "txt"
