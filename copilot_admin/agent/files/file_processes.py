"""Reads files in processes of their own, and says in words why one cannot be read.

Every file of a stranger goes through here. A caller that is cancelled ends the process at once;
one that has no event loop writes `asyncio.run(read_document(...))`.
"""

from base64 import b64decode
from dataclasses import asdict, dataclass
from typing import TypeAlias, assert_never

from copilot_admin.agent.documents.document import (
    Document,
    LeftOut,
    UnreadableFile,
    build_document,
    describe_cut,
)
from copilot_admin.agent.documents.registry import format_of
from copilot_admin.agent.files.encoded import check_size
from copilot_admin.agent.files.orders import FileReply, Job, Order
from copilot_admin.agent.files.pictures import Picture, TooManyPixels
from copilot_admin.agent.files.worker import LIMITS, perform
from copilot_admin.agent.worker_processes import (
    FailureReason,
    TaskFailed,
    WorkerPool,
    WorkersBusy,
)

BUSY = "The server is reading as many files as it can. Ask again in a minute."
DAMAGED = "It is damaged. Save it anew with the program that made it, and attach that."
LOST = "The server could not read it just now. Ask again."
_TOO_MUCH = {  # behind it stands what to do with a file of the kind
    FailureReason.TIME: "It takes longer to read than one file may. ",
    FailureReason.MEMORY: "It takes more memory to read than one file may. ",
}
_BEHIND = {  # pages that were read: why no more were; where nobody knows it, asking again may help
    FailureReason.TIME: "takes longer to read than one file may",
    FailureReason.MEMORY: "takes more memory to read than one file may",
    FailureReason.DAMAGE: "is damaged",
}
SMALLER = "Scale it down, or save it anew."
WORKERS = WorkerPool(perform, limits=LIMITS)

FileBody: TypeAlias = bytes | str  # its bytes, or base64 as it came


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """A file that was read: its content, its size in bytes, and its `data_type` by its content."""

    content: Document | Picture
    size: int
    kind: str


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
    """A small PNG of an image that holds nothing but its pixels.

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
        check_size(body)
    reply = FileReply()
    fields = {**asdict(order), "is_encoded": isinstance(body, str)}
    try:
        await WORKERS.run(fields, body, on_reply=reply.take)
    except WorkersBusy:
        raise UnreadableFile(BUSY) from None
    except TaskFailed as error:
        reply.left_out = _of_what_follows(error.reason, reply)
        if reply.left_out is None:
            raise UnreadableFile(_sentence(error.reason, too_much)) from error
    return reply


def _of_what_follows(reason: FailureReason, reply: FileReply) -> LeftOut | None:
    why = _BEHIND.get(reason)
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
