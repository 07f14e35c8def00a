"""A document of the corpus."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from copilot_admin.agent.documents.document import Document, build_document
from copilot_admin.agent.documents.registry import parts_of


@dataclass(frozen=True, slots=True)
class Case:
    """A document and what its text must and must not contain.

    Attributes:
        must: Parts of the text, in their order.
        once: Parts that stand in it exactly once.
        error: Part of the error, where it can't be read.
    """

    name: str
    data_type: str
    build: Callable[[], bytes]
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    error: str = ""


def libreoffice(name: str) -> Callable[[], bytes]:
    """Return a reader of a file that LibreOffice made of one of these documents."""
    return (Path(__file__).parent / "files" / name).read_bytes


def read_document(data: bytes, *, data_type: str, name: str = "file") -> Document:
    """Read a file in this process."""
    return build_document(list(parts_of(data, data_type=data_type, name=name)), name=name)
