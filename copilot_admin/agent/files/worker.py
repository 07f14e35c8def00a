"""Task of a child process: read one file."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from copilot_admin.agent.documents.document import UnreadableFile
from copilot_admin.agent.documents.registry import detect_data_type, parts_of
from copilot_admin.agent.files.encoded import decoded
from copilot_admin.agent.files.orders import Job, Order, document_replies, picture_reply
from copilot_admin.agent.files.pictures import (
    TooManyPixels,
    harmless_png,
    picture_type,
    read_picture,
)
from copilot_admin.agent.worker_processes import Limits
from protocol.json import Json

# Ten million cells of a workbook need 420 MB, the largest image 160 MB.
LIMITS = Limits(memory=1024**3, cpu_seconds=15)


def perform(given: Mapping[str, Any], body: bytes) -> Iterator[Json]:
    """Reads a file as an order says."""
    fields = {name: given[name] for name in Order.__dataclass_fields__}
    order = Order(**{**fields, "job": Job(given["job"])})
    try:
        data = decoded(body) if order.is_encoded else body
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
            kind = picture_type(data)
            if kind:
                yield {"kind": kind}
                yield picture_reply(read_picture(data, name=order.name))
                return
            kind = detect_data_type(data, declared=order.data_type, name=order.name)
            yield {"kind": kind}
            parts = parts_of(data, data_type=kind, name=order.name, pictures=order.pictures)
            yield from document_replies(parts, places=order.places)
        case Job.PNG:
            yield {"png": b64encode(harmless_png(data)).decode("ascii")}
        case _:
            assert_never(order.job)
