"""Reads the files of a query: from here on they are text and pictures, as far as can be read."""

import asyncio
from base64 import b64decode
import binascii
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TypeAlias, assert_never

from copilot_admin.engine.documents.registry import (
    Document,
    UnreadableFile,
    data_types,
    format_of,
    read_document,
)
from copilot_admin.engine.fetching.egress import MOST_BYTES, FetchFailed
from copilot_admin.engine.files.pictures import IMAGE_TYPES, Picture, read_picture, size_of
from copilot_admin.engine.values.engine_input import FileRead
from protocol.json import JsonObject
from protocol.messages import DataItem, FileReference, Message, ResultMessage, SourceData
from protocol.query import ContextItem, Query

Fetch: TypeAlias = Callable[[str], Awaitable[bytes]]
MOST_FILES = 20  # of one query
MOST_IMAGES = 10  # of one query; the newest are shown
MOST_IMAGE_CHARACTERS = 20 * 1024 * 1024  # in base64, of all of them; some vendors refuse 32 MB
LONGEST_NAME = 200  # characters
SHORTEST_BASE64 = 24  # characters; a shorter word may look like it by chance
NOT_SHOWN = "the copilot does not look at images"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileItem(DataItem):
    """A file that was read; `content` is its text."""

    document: Document


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageItem(DataItem):
    """An image that the model is shown; `content` says in words that it is."""

    picture: Picture


# What came of a file; a text stands in its place, where there is nothing else to show.
_Content: TypeAlias = Document | Picture | str


class _Reading:
    """The files of one query: each is fetched and read once, however often it is repeated."""

    def __init__(self, fetch: Fetch, *, sees_images: bool) -> None:
        self._fetch = fetch
        self._sees_images = sees_images
        self._known: dict[str, _Content] = {}
        self._plain: set[str] = set()  # files that came as text
        self.files: list[FileRead] = []

    async def data(self, data: SourceData) -> SourceData:
        items = [await self._item(item) for item in data.items]
        return replace(data, items=tuple(items))

    async def _item(self, item: DataItem | FileReference) -> DataItem | FileReference:
        kind = str(item.data_format.get("data_type") or "").lower()
        if kind not in IMAGE_TYPES and kind not in data_types():
            return item
        name = str(item.data_format.get("filename") or f"without a name ({kind})")[:LONGEST_NAME]
        if isinstance(item, DataItem) and _is_text(item):
            self._note_text(item.content, kind=kind, name=name)
            return item
        key = _key(kind, item.url if isinstance(item, FileReference) else item.content)
        if key not in self._known:
            self._known[key] = await self._content(item, FileRead(name=name, kind=kind))
        return _item_of(item, self._known[key])

    def _note_text(self, text: str, *, kind: str, name: str) -> None:
        key = _key(kind, text)
        if key not in self._plain:
            self._plain.add(key)
            size = len(text.encode("utf-8", "replace"))
            self.files.append(FileRead(name=name, kind=kind, size=size))

    async def _content(self, item: DataItem | FileReference, file: FileRead) -> _Content:
        content: _Content
        try:
            if len(self._known) >= MOST_FILES:
                raise UnreadableFile(f"{MOST_FILES} other files were read already.")
            if isinstance(item, FileReference) and self._must_not_see(file):
                content = _unseen(f"{file.name!r}, which is linked")
                file = replace(file, note=NOT_SHOWN)
            else:
                data = await self._bytes(item)
                file = replace(file, size=len(data))
                content, file = await self._read(data, file)
        except (UnreadableFile, FetchFailed) as error:
            sentence = f"The file {file.name!r} could not be read. {error.public}"
            content, file = f"[{sentence}]", replace(file, fault=sentence)
        self.files.append(file)
        return content

    async def _read(self, data: bytes, file: FileRead) -> tuple[_Content, FileRead]:
        if file.kind not in IMAGE_TYPES:
            document = await asyncio.to_thread(
                read_document, data, data_type=file.kind, name=file.name
            )
            note = document.left_out.strip("[]")
            return document, replace(file, pages=len(document.pages), note=note)
        if self._must_not_see(file):
            width, height = await asyncio.to_thread(size_of, data)
            about = f"{file.name!r}, {width} by {height} pixels, {_in_words(len(data))}"
            return _unseen(about), replace(file, pixels=(width, height), note=NOT_SHOWN)
        picture = self._admitted(await asyncio.to_thread(read_picture, data, name=file.name))
        return picture, replace(file, pixels=(picture.width, picture.height))

    def _must_not_see(self, file: FileRead) -> bool:
        return file.kind in IMAGE_TYPES and not self._sees_images

    async def _bytes(self, item: DataItem | FileReference) -> bytes:
        if isinstance(item, FileReference):
            return await self._fetch(item.url)
        return await asyncio.to_thread(_decoded, item.content)

    def _admitted(self, picture: Picture) -> Picture:
        """The picture, if there is room for one more."""
        shown = [one for one in self._known.values() if isinstance(one, Picture)]
        if len(shown) >= MOST_IMAGES:
            raise UnreadableFile(f"The model is shown {MOST_IMAGES} newer images already.")
        if sum(len(one.url) for one in (*shown, picture)) > MOST_IMAGE_CHARACTERS:
            raise UnreadableFile("Together with newer images it is too large. Attach fewer.")
        return picture


async def with_files_read(
    query: Query, *, fetch: Fetch, sees_images: bool = False
) -> tuple[Query, tuple[FileRead, ...]]:
    """The query with its files as text and pictures, and what came of each file.

    The newest files are read first: when there are too many, the oldest are left out.

    Args:
        query: Whose results and context may hold files, in base64 or as links.
        fetch: Gets the bytes behind a link.
        sees_images: Whether the model can look at images; else it is told of them in words.
    """
    has_results = any(isinstance(message, ResultMessage) for message in query.messages)
    if not has_results and not query.context:
        return query, ()
    reading = _Reading(fetch, sees_images=sees_images)
    context = [await _context(item, reading) for item in query.context]
    messages = [await _message(message, reading) for message in reversed(query.messages)]
    read = replace(query, messages=tuple(reversed(messages)), context=tuple(context))
    return read, tuple(reading.files)


def files_in(items: Iterable[object]) -> list[Document]:
    """The documents among some items."""
    return [item.document for item in items if isinstance(item, FileItem)]


def pictures_in(results: Iterable[object]) -> list[Picture]:
    """The pictures among what sources returned, in their order."""
    return [
        item.picture
        for one in results
        if isinstance(one, SourceData)
        for item in one.items
        if isinstance(item, ImageItem)
    ]


async def _message(message: Message, reading: _Reading) -> Message:
    if not isinstance(message, ResultMessage):
        return message
    data = [await reading.data(one) if isinstance(one, SourceData) else one for one in message.data]
    return replace(message, data=tuple(data))


async def _context(item: ContextItem, reading: _Reading) -> ContextItem:
    return replace(item, data=await reading.data(item.data))


def _item_of(item: DataItem | FileReference, content: _Content) -> DataItem:
    form = _as_text(item.data_format)
    match content:
        case str():
            return DataItem(content=content, data_format=form, citable=False)
        case Document():
            return FileItem(
                content=content.text, data_format=form, citable=item.citable, document=content
            )
        case Picture(name=name, width=width, height=height):
            return ImageItem(
                content=f"[the image {name!r}, {width} by {height} pixels: you are shown it]",
                data_format=form,
                citable=item.citable,
                picture=content,
            )
    assert_never(content)


def _key(kind: str, source: str) -> str:
    return f"{kind} {sha256(source.encode('utf-8', 'replace')).hexdigest()}"


def _unseen(image: str) -> str:
    return f"[the image {image}: you cannot look at images; say so if the answer depends on it]"


def _in_words(size: int) -> str:
    return f"{size / 2**20:.1f} MB" if size >= 2**20 else f"{-(-size // 1024)} KB"


def _is_text(item: DataItem) -> bool:
    """Whether a file of a format that is text came as it is instead of in base64."""
    kind = str(item.data_format.get("data_type") or "").lower()
    form = format_of(kind)
    if form is None or not form.is_text:
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
