"""A document of the corpus."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
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
