"""Files that child processes read, and messages about unreadable ones.

Cancelling the caller kills the child immediately. A caller without an event loop uses
`asyncio.run(read_file(...))`.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from copilot_admin.agent.documents.document import (
    Document,
    DocumentPage,
    LeftOut,
    Part,
    UnreadableFile,
    Word,
    build_document,
    describe_cut,
)
from copilot_admin.agent.documents.registry import detect_data_type, format_of, parts_of
from copilot_admin.agent.files import pictures
from copilot_admin.agent.files.base64_files import check_base64, decode_base64
from copilot_admin.agent.files.pictures import Picture, TooManyPixels
from copilot_admin.agent.worker_processes import (
    FailureReason,
    Limits,
    TaskFailed,
    WorkerPool,
    WorkersBusy,
)
from protocol.json import Json, JsonObject

# Ten million cells of a workbook need 420 MB, the largest image 160 MB.
LIMITS = Limits(memory=1024**3, cpu_seconds=15)
_PAGE_FIELDS = ("number", "text", "name", "note", "picture", "noun")
BUSY = "The server is reading as many files as it can. Ask again in a minute."
DAMAGED = "It is damaged. Save it again in the program that made it, and attach the new file."
LOST = "The server could not read it just now. Ask again."
_TOO_MUCH = {  # advice for the kind of file follows
    FailureReason.TIME: "It takes longer to read than one file may. ",
    FailureReason.MEMORY: "It takes more memory to read than one file may. ",
}
_WHY_CUT = {  # reasons for unread pages
    FailureReason.TIME: ": what follows takes longer to read than one file may",
    FailureReason.MEMORY: ": what follows takes more memory to read than one file may",
    FailureReason.DAMAGE: ": what follows is damaged",
}
SMALLER = "Scale it down, or save it again."

FileBody: TypeAlias = bytes | str  # or base64 as received


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """A file that was read: its content, its size in bytes, and its `data_type` by its content."""

    content: Document | Picture
    size: int
    kind: str


@dataclass(slots=True)
class FileReply:
    """Replies of a child so far."""

    size: int = 0
    kind: str = ""  # its `data_type` by its content
    pages: list[DocumentPage] = field(default_factory=list)
    left_out: LeftOut | None = None
    picture: Picture | None = None
    png: str = field(default="", repr=False)  # base64
    too_many_pixels: tuple[int, int] | None = None  # width and height

    def take(self, reply: Json) -> None:
        """Add one reply of the child.

        Raises:
            UnreadableFile: It reports that the file cannot be read.
            ValueError: It is unknown.
        """
        match reply:
            case {"size": int(size)}:
                self.size = size
            case {"kind": str(kind)}:
                self.kind = kind
            case {"page": dict(fields), "words": list(words)}:
                self.pages.append(_page(fields, words))
            case {"left_out": str(note)}:
                self.left_out = LeftOut(note)
            case {"picture": [str(name), int(width), int(height), str(url)]}:
                self.picture = Picture(name=name, width=width, height=height, url=url)
            case {"png": str(png)}:
                self.png = png
            case {"refused": str(public)}:
                raise UnreadableFile(public)
            case {"too_many_pixels": [int(width), int(height)]}:
                self.too_many_pixels = width, height
            case _:
                raise ValueError("unknown reply")


def perform(order: Mapping[str, Any], body: bytes) -> Iterator[Json]:
    """Read a file in a child process; the order has the arguments of `read_file`."""
    try:
        data = decode_base64(body) if order["is_encoded"] else body
        yield {"size": len(data)}
        if not data:
            raise UnreadableFile("It is empty. Attach it again.")
        yield from _icon_replies(data) if order["is_icon"] else _replies(order, data)
    except TooManyPixels as error:
        yield {"too_many_pixels": [error.width, error.height]}
    except UnreadableFile as error:
        yield {"refused": error.public}


def _icon_replies(data: bytes) -> Iterator[Json]:
    yield {"png": b64encode(pictures.harmless_png(data)).decode("ascii")}


def _replies(order: Mapping[str, Any], data: bytes) -> Iterator[Json]:
    name = order["name"]
    if kind := pictures.picture_type(data):
        yield {"kind": kind}
        picture = pictures.read_picture(data, name=name)
        yield {"picture": [picture.name, picture.width, picture.height, picture.url]}
        return
    kind = detect_data_type(data, declared=order["data_type"], name=name)
    yield {"kind": kind}
    parts = parts_of(data, data_type=kind, name=name, pictures=order["pictures"])
    yield from _document_replies(parts, places=order["places"])


def _document_replies(parts: Iterable[Part], *, places: bool) -> Iterator[Json]:
    for part in parts:
        match part:
            case DocumentPage():
                fields = {name: getattr(part, name) for name in _PAGE_FIELDS}
                words = part.words if places else ()
                placed: list[Json] = [
                    [one.text, one.x0, one.top, one.x1, one.bottom] for one in words
                ]
                yield {"page": fields, "words": placed}
            case LeftOut():
                yield {"left_out": part.note}


def _page(fields: JsonObject, words: list[Json]) -> DocumentPage:
    if not {"number", "text"} <= fields.keys() <= set(_PAGE_FIELDS):
        raise ValueError("a page without its text, or with something else")
    given = cast("dict[str, Any]", fields)
    return DocumentPage(**given, words=tuple(map(_word, words)))


def _word(found: Json) -> Word:
    match found:
        case [str(text), int() | float() as x0, int() | float() as top,
              int() | float() as x1, int() | float() as bottom]:  # fmt: skip
            return Word(text, x0, top, x1, bottom)
    raise ValueError("a word without its place")


POOL = WorkerPool(perform, limits=LIMITS)


async def read_file(
    body: FileBody, *, data_type: str, name: str, places: bool = False, pictures: bool = False
) -> ReadFile:
    """Read a document or a picture, as far as it can be read.

    Args:
        body: The file.
        data_type: As it was declared; the content decides.
        name: For messages to users.
        places: Return the places of all terms.
        pictures: Return pages without text as pictures.

    Raises:
        UnreadableFile: It can't be read; the text has the reason.
    """
    form = format_of(data_type)
    order: JsonObject = {
        "is_icon": False,
        "data_type": data_type,
        "name": name,
        "places": places,
        "pictures": pictures,
    }
    reply = await _reply(order, body, too_much=form.too_much if form else SMALLER)
    if reply.picture is not None:
        return ReadFile(content=reply.picture, size=reply.size, kind=reply.kind)
    if not reply.pages:
        raise UnreadableFile(DAMAGED)
    parts = (*reply.pages, *([reply.left_out] if reply.left_out else ()))
    document = build_document(parts, name=name)
    return ReadFile(content=document, size=reply.size, kind=reply.kind)


async def harmless_png(data: bytes) -> bytes:
    """Return a small PNG with nothing but the pixels of an image.

    Raises:
        TooManyPixels: It is larger than an image of a copilot may be.
        UnreadableFile: It cannot be read; the text has the reason.
    """
    reply = await _reply({"is_icon": True}, data, too_much=SMALLER)
    if reply.too_many_pixels is not None:
        raise TooManyPixels(*reply.too_many_pixels)
    return b64decode(reply.png)


async def _reply(order: JsonObject, body: FileBody, *, too_much: str) -> FileReply:
    if isinstance(body, str):
        check_base64(body)
    reply = FileReply()
    try:
        order = {**order, "is_encoded": isinstance(body, str)}
        await POOL.run(order, body, on_reply=reply.take)
    except WorkersBusy:
        raise UnreadableFile(BUSY) from None
    except TaskFailed as error:
        why = _WHY_CUT.get(error.reason)
        if why and any(page.text.strip() for page in reply.pages):
            reply.left_out = describe_cut(len(reply.pages), reply.pages[-1].noun, why)
        elif error.reason in _TOO_MUCH:
            raise UnreadableFile(_TOO_MUCH[error.reason] + too_much) from error
        else:
            raise UnreadableFile(LOST if why is None else DAMAGED) from error
    return reply
