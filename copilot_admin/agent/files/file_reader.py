"""Files that child processes read, and messages about unreadable ones.

Cancelling the caller kills the child immediately. A caller without an event loop uses
`asyncio.run(read_file(...))`.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from pydantic import BaseModel

from copilot_admin.agent.documents.document import (
    Document,
    DocumentPage,
    UnreadableFile,
    build_document,
    describe_cut,
)
from copilot_admin.agent.documents.registry import detect_data_type, format_of, parts_of
from copilot_admin.agent.files import pictures
from copilot_admin.agent.files.base64_files import check_base64, decode_base64
from copilot_admin.agent.files.pictures import Picture
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
BUSY = "The server is reading as many files as it can. Ask again in a minute."
DAMAGED = "It is damaged. Save it again in the program that made it, and attach the new file."
LOST = "The server could not read it just now. Ask again."
SMALLER = "Scale it down, or save it again."
_REASONS = {
    FailureReason.TIME: "takes longer to read than one file may",
    FailureReason.MEMORY: "takes more memory to read than one file may",
    FailureReason.DAMAGE: "is damaged",
}

FileBody: TypeAlias = bytes | str  # or base64 as received


class ReadFile(NamedTuple):
    """A file that was read: its content, its size in bytes, and its `data_type` by its content."""

    content: Document | Picture
    size: int
    kind: str


class _Reply(BaseModel):
    """What a child has found so far; each reply sets some of the fields."""

    size: int = 0
    kind: str = ""
    page: DocumentPage | None = None
    note: str = ""
    picture: Picture | None = None
    png: str = ""  # base64
    refused: str = ""


def perform(order: Mapping[str, Any], body: bytes) -> Iterator[Json]:
    """Read a file in a child process; the order has the arguments of `read_file`."""
    try:
        data = decode_base64(body) if order["is_encoded"] else body
        yield {"size": len(data)}
        if not data:
            raise UnreadableFile("It is empty. Attach it again.")
        for reply in _read_icon(data) if order["is_icon"] else _read(order, data):
            yield reply.model_dump(mode="json", exclude_unset=True)
    except UnreadableFile as error:
        yield {"refused": error.public}


def _read_icon(data: bytes) -> Iterator[_Reply]:
    yield _Reply(png=b64encode(pictures.harmless_png(data)).decode("ascii"))


def _read(order: Mapping[str, Any], data: bytes) -> Iterator[_Reply]:
    if kind := pictures.picture_type(data):
        yield _Reply(kind=kind, picture=pictures.read_picture(data, name=""))
        return
    kind = detect_data_type(data, declared=order["data_type"], name=order["name"])
    yield _Reply(kind=kind)
    for part in parts_of(data, data_type=kind, name=order["name"], pictures=order["pictures"]):
        if isinstance(part, str):
            yield _Reply(note=part)
        else:
            yield _Reply(page=part if order["places"] else replace(part, words=()))


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
    replies = await _request(order, body, too_much=form.too_much if form else SMALLER)
    size, kind = (max(getattr(one, key) for one in replies) for key in ("size", "kind"))
    picture = next((one.picture for one in replies if one.picture), None)
    if picture is not None:
        return ReadFile(content=replace(picture, name=name), size=size, kind=kind)
    parts = [part for one in replies if (part := one.page or one.note)]
    if not any(isinstance(part, DocumentPage) for part in parts):
        raise UnreadableFile(DAMAGED)
    return ReadFile(content=build_document(parts, name=name), size=size, kind=kind)


async def harmless_png(data: bytes) -> bytes:
    """Return a small PNG with nothing but the pixels of an image.

    Raises:
        UnreadableFile: It cannot be read; the text has the reason.
    """
    replies = await _request({"is_icon": True}, data, too_much=SMALLER)
    return b64decode(replies[-1].png)


async def _request(order: JsonObject, body: FileBody, *, too_much: str) -> list[_Reply]:
    """Return the replies of a child.

    Raises:
        UnreadableFile: It reported that the file can't be read, or ended without a page of text.
    """
    if isinstance(body, str):
        check_base64(body)
    replies = [_Reply()]
    try:
        await POOL.run(
            {**order, "is_encoded": isinstance(body, str)},
            body,
            on_reply=lambda reply: replies.append(_Reply.model_validate(reply)),
        )
    except WorkersBusy:
        raise UnreadableFile(BUSY) from None
    except TaskFailed as error:
        why = _REASONS.get(error.reason)
        pages = [one.page for one in replies if one.page]
        if why and any(page.text.strip() for page in pages):
            cut = describe_cut(len(pages), pages[0].noun, f": what follows {why}")
            replies.append(_Reply(note=cut))
        elif error.reason in (FailureReason.TIME, FailureReason.MEMORY):
            raise UnreadableFile(f"It {why}. {too_much}") from error
        else:
            raise UnreadableFile(LOST if why is None else DAMAGED) from error
    if refused := replies[-1].refused:
        raise UnreadableFile(refused)
    return replies
