"""Reads one file in a process of its own; as a program, it is what makes these processes.

All readers are loaded once, before the first file comes, so that a process costs no more than a
fork. A reader that breaks ends its process, and the file is told to be unreadable.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from io import BytesIO
import logging
from typing import Any, assert_never

from docx import Document as WordDocument
from PIL import Image

from copilot_admin.agent.documents.registry import UnreadableFile, data_types, parts_of
from copilot_admin.agent.files.encoded import decoded
from copilot_admin.agent.files.orders import Job, Order, document_replies, picture_reply
from copilot_admin.agent.files.pictures import TooManyPixels, harmless_png, read_picture
from copilot_admin.agent.processes.fork_server import serve
from copilot_admin.agent.processes.limits import Limits
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
        case Job.DOCUMENT:
            parts = parts_of(data, data_type=order.data_type)
            yield from document_replies(parts, places=order.places)
        case Job.PICTURE:
            yield picture_reply(read_picture(data, name=order.name))
        case Job.PNG:
            yield {"png": b64encode(harmless_png(data)).decode("ascii")}
        case _:
            assert_never(order.job)


def main() -> None:
    """Loads every reader and waits for files."""
    logging.disable()  # what libraries say of a file is for nobody
    data_types()
    Image.init()
    for order, data in _first_files():
        list(_replies(order, data))
    serve(perform, limits=LIMITS)


def _first_files() -> Iterator[tuple[Order, bytes]]:
    """Files whose libraries load much at the first one: 30 ms that each process would take anew."""
    document, picture = BytesIO(), BytesIO()
    word = WordDocument()
    word.add_paragraph("a")
    word.save(document)
    yield Order(job=Job.DOCUMENT, data_type="docx"), document.getvalue()
    yield Order(job=Job.DOCUMENT, data_type="txt"), "Größe für Bäume".encode("cp1252")
    Image.new("RGB", (1, 1)).save(picture, format="PNG")
    yield Order(job=Job.PICTURE), picture.getvalue()


if __name__ == "__main__":
    main()
