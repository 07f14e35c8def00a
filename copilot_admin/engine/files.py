"""Reads the files of a query: from here on they are pages of text, as far as they can be read."""

import asyncio
from base64 import b64decode
import binascii
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TypeAlias

from copilot_admin.engine.documents.registry import (
    Document,
    UnreadableFile,
    data_types,
    read_document,
)
from copilot_admin.engine.egress import MOST_BYTES, FetchFailed
from protocol.json import JsonObject
from protocol.messages import DataItem, FileReference, Message, ResultMessage, SourceData
from protocol.query import ContextItem, Query

Fetch: TypeAlias = Callable[[str], Awaitable[bytes]]
MOST_FILES = 20  # of one query
SHORTEST_BASE64 = 24  # characters; a shorter word may look like it by chance
_PLAIN = frozenset({"csv", "txt", "md", "html"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FileItem(DataItem):
    """A file that was read; `content` is its text."""

    document: Document


class _Reading:
    """The files of one query: each is fetched and read once, however often it is repeated."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._known: dict[str, Document | str] = {}
        self.problems: list[str] = []

    async def data(self, data: SourceData) -> SourceData:
        items = [await self._item(item) for item in data.items]
        return replace(data, items=tuple(items))

    async def _item(self, item: DataItem | FileReference) -> DataItem | FileReference:
        kind = str(item.data_format.get("data_type") or "").lower()
        if kind not in data_types() or (isinstance(item, DataItem) and _is_text(item)):
            return item
        name = str(item.data_format.get("filename") or f"without a name ({kind})")
        found = await self._document(item, kind=kind, name=name)
        form = item.data_format
        if isinstance(found, str):
            return DataItem(content=f"[{found}]", data_format=_as_text(form), citable=False)
        return FileItem(
            content=found.text, data_format=_as_text(form), citable=item.citable, document=found
        )

    async def _document(
        self, item: DataItem | FileReference, *, kind: str, name: str
    ) -> Document | str:
        source = item.url if isinstance(item, FileReference) else item.content
        key = f"{kind} {sha256(source.encode()).hexdigest()}"
        if key not in self._known:
            try:
                if len(self._known) >= MOST_FILES:
                    raise UnreadableFile(f"{MOST_FILES} other files were read already.")
                self._known[key] = await self._read(item, kind=kind, name=name)
            except (UnreadableFile, FetchFailed) as error:
                sentence = f"The file {name!r} could not be read. {error.public}"
                self._known[key] = sentence
                self.problems.append(sentence)
        return self._known[key]

    async def _read(self, item: DataItem | FileReference, *, kind: str, name: str) -> Document:
        if isinstance(item, FileReference):
            data = await self._fetch(item.url)
        else:
            data = await asyncio.to_thread(_decoded, item.content)
        return await asyncio.to_thread(read_document, data, data_type=kind, name=name)


async def with_files_read(query: Query, *, fetch: Fetch) -> tuple[Query, tuple[str, ...]]:
    """The query with its files as text, and a sentence for each that could not be read.

    Args:
        query: Whose results and context may hold files, in base64 or as links.
        fetch: Gets the bytes behind a link.
    """
    if not any(map(_may_hold_files, query.messages)) and not query.context:
        return query, ()
    reading = _Reading(fetch)
    messages = [await _message(message, reading) for message in query.messages]
    context = [await _context(item, reading) for item in query.context]
    read = replace(query, messages=tuple(messages), context=tuple(context))
    return read, tuple(reading.problems)


def files_in(items: Iterable[object]) -> list[Document]:
    """The documents among some items."""
    return [item.document for item in items if isinstance(item, FileItem)]


async def _message(message: Message, reading: _Reading) -> Message:
    if not isinstance(message, ResultMessage):
        return message
    data = [await reading.data(one) if isinstance(one, SourceData) else one for one in message.data]
    return replace(message, data=tuple(data))


async def _context(item: ContextItem, reading: _Reading) -> ContextItem:
    return replace(item, data=await reading.data(item.data))


def _may_hold_files(message: Message) -> bool:
    return isinstance(message, ResultMessage)


def _is_text(item: DataItem) -> bool:
    """Whether a file that is plain text came as it is instead of in base64."""
    kind = str(item.data_format.get("data_type") or "").lower()
    if kind not in _PLAIN:
        return False
    try:
        _decoded(item.content).decode()
    except (UnreadableFile, UnicodeDecodeError):
        return True
    return len(item.content) < SHORTEST_BASE64


def _decoded(content: str) -> bytes:
    """The bytes of a file in base64, with or without the start of a `data:` address."""
    if content.startswith("data:"):
        content = content.partition(",")[2]
    if len(content) > MOST_BYTES * 4 // 3:
        raise UnreadableFile(f"It is larger than {MOST_BYTES // 2**20} MB.")
    try:
        return b64decode("".join(content.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise UnreadableFile("Its content is no base64.") from error


def _as_text(form: JsonObject) -> JsonObject:
    name = form.get("filename")
    return {"data_type": "object", "parse_as": "text", **({"filename": name} if name else {})}
