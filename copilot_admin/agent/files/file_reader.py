"""Files read in child processes, and sentences about those that can't be read.

A caller that is cancelled ends the child at once; one without an event loop writes
`asyncio.run(read_file(...))`.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias, assert_never, cast

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
_WHY_CUT = {  # why no more pages were read
    FailureReason.TIME: "takes longer to read than one file may",
    FailureReason.MEMORY: "takes more memory to read than one file may",
    FailureReason.DAMAGE: "is damaged",
}
SMALLER = "Scale it down, or save it again."

FileBody: TypeAlias = bytes | str  # or base64 as it came


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """A file that was read: its content, its size in bytes, and its `data_type` by its content."""

    content: Document | Picture
    size: int
    kind: str


class Job(StrEnum):
    """Result that a child makes of a file."""

    READ = "read"  # a document or a picture, by its content
    PNG = "png"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Parameters of a child.

    Attributes:
        job: What the file becomes.
        name: Of the file.
        data_type: As it was declared.
        is_encoded: The bytes are base64.
        places: The boxes of the words of a document are needed.
        pictures: Pages without text are needed as pictures.
    """

    job: Job
    name: str = ""
    data_type: str = ""
    is_encoded: bool = False
    places: bool = False
    pictures: bool = False


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
            UnreadableFile: It says that the file cannot be read.
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


def perform(given: Mapping[str, Any], body: bytes) -> Iterator[Json]:
    """Read a file in a child process."""
    fields = {name: given[name] for name in Order.__dataclass_fields__}
    order = Order(**{**fields, "job": Job(given["job"])})
    try:
        data = decode_base64(body) if order.is_encoded else body
        yield {"size": len(data)}
        if not data:
            raise UnreadableFile("It is empty. Attach it again.")
        yield from _replies(order, data)
    except TooManyPixels as error:
        yield {"too_many_pixels": [error.width, error.height]}
    except UnreadableFile as error:
        yield {"refused": error.public}


def _replies(order: Order, data: bytes) -> Iterator[Json]:
    match order.job:
        case Job.READ:
            kind = pictures.picture_type(data)
            if kind:
                yield {"kind": kind}
                yield _picture_reply(data, name=order.name)
                return
            kind = detect_data_type(data, declared=order.data_type, name=order.name)
            yield {"kind": kind}
            parts = parts_of(data, data_type=kind, name=order.name, pictures=order.pictures)
            yield from _document_replies(parts, places=order.places)
        case Job.PNG:
            yield {"png": b64encode(pictures.harmless_png(data)).decode("ascii")}
        case _:
            assert_never(order.job)


def _picture_reply(data: bytes, *, name: str) -> Json:
    picture = pictures.read_picture(data, name=name)
    return {"picture": [picture.name, picture.width, picture.height, picture.url]}


def _document_replies(parts: Iterable[Part], *, places: bool) -> Iterator[Json]:
    for part in parts:
        match part:
            case DocumentPage():
                fields = {name: getattr(part, name) for name in _PAGE_FIELDS}
                yield {"page": fields, "words": _placed(part, places)}
            case LeftOut():
                yield {"left_out": part.note}


def _placed(page: DocumentPage, places: bool) -> list[Json]:
    return [[one.text, one.x0, one.top, one.x1, one.bottom] for one in page.words if places]


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
        name: Shown to people.
        places: Return the places of words.
        pictures: Return pages without text as pictures.

    Raises:
        UnreadableFile: It can't be read; the text says why.
    """
    form = format_of(data_type)
    order = Order(job=Job.READ, data_type=data_type, name=name, places=places, pictures=pictures)
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
        UnreadableFile: It cannot be read; the text says why.
    """
    reply = await _reply(Order(job=Job.PNG), data, too_much=SMALLER)
    if reply.too_many_pixels is not None:
        raise TooManyPixels(*reply.too_many_pixels)
    return b64decode(reply.png)


async def _reply(order: Order, body: FileBody, *, too_much: str) -> FileReply:
    if isinstance(body, str):
        check_base64(body)
    reply = FileReply()
    fields = {**asdict(order), "is_encoded": isinstance(body, str)}
    try:
        await POOL.run(fields, body, on_reply=reply.take)
    except WorkersBusy:
        raise UnreadableFile(BUSY) from None
    except TaskFailed as error:
        reply.left_out = _cut_off(error.reason, reply)
        if reply.left_out is None:
            raise UnreadableFile(_sentence(error.reason, too_much)) from error
    return reply


def _cut_off(reason: FailureReason, reply: FileReply) -> LeftOut | None:
    why = _WHY_CUT.get(reason)
    has_text = any(page.text.strip() for page in reply.pages)
    return describe_cut(len(reply.pages), reply.pages[-1], why) if why and has_text else None


def _sentence(reason: FailureReason, too_much: str) -> str:
    match reason:
        case FailureReason.TIME | FailureReason.MEMORY:
            return _TOO_MUCH[reason] + too_much
        case FailureReason.DAMAGE:
            return DAMAGED
        case FailureReason.UNKNOWN:
            return LOST
    assert_never(reason)
