"""Excel workbooks, old and new: each sheet as rows of comma-separated values."""

from collections.abc import Iterator
import json
import os
from subprocess import DEVNULL, PIPE, Popen
import sys
from tempfile import TemporaryFile
from threading import BoundedSemaphore
from typing import IO, cast

from copilot_admin.engine.documents import workbook_sheets
from copilot_admin.engine.documents.registry import (
    DocumentPage,
    Format,
    PageWord,
    UnreadableFile,
    check_archive,
)
from copilot_admin.engine.documents.workbook_sheets import Outcome

MOST_LINE = 64 * 1024 * 1024  # bytes of one sheet as JSON; 50,000 rows rarely have 10 MB
# Each process may take a gigabyte, so that few of them run at the same time.
_PLACES = BoundedSemaphore(2)
_TOO_LARGE = (
    "Its sheets need too much memory: their cells lie far apart, or there are too many. Delete "
    "what stands far away from the rest, or attach a part of it, or CSV."
)


def _read(data: bytes) -> Iterator[DocumentPage]:
    if data[:2] == b"PK":
        check_archive(data)
    with _PLACES, TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        command = [sys.executable, "-P", "-m", workbook_sheets.__name__]
        # Nothing else of the environment: it holds keys.
        environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
        with Popen(  # noqa: S603  # our own interpreter, our own module
            command, stdin=file, stdout=PIPE, stderr=DEVNULL, env=environment
        ) as child:
            try:
                yield from _pages(cast(IO[bytes], child.stdout))
                _check(child.wait())
            finally:
                child.kill()


def _pages(lines: IO[bytes]) -> Iterator[DocumentPage]:
    number = 0
    while line := lines.readline(MOST_LINE):
        if not line.endswith(b"\n"):
            raise UnreadableFile(_TOO_LARGE)
        number += 1
        name, text = json.loads(line)
        yield DocumentPage(number=number, name=name, text=text)


def _check(code: int) -> None:
    """Says why the process ended before it was done; a negative code is the signal it died of."""
    if code == Outcome.READ:
        return
    if code == Outcome.LOCKED:
        raise UnreadableFile("The workbook is locked with a password. Unlock it.")
    if code < 0 or code == Outcome.TOO_LARGE:
        raise UnreadableFile(_TOO_LARGE)
    raise ValueError("no workbook")


WORKBOOK = Format(
    data_types=("xlsx", "xls"), label="Excel workbook", read=_read, page_word=PageWord.SHEET
)
