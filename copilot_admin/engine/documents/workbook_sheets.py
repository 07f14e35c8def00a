"""Reads the sheets of a workbook in a process of its own, whose memory has a limit.

The library lays a sheet out as a full table, from its first cell to its last, and aborts the
process when the memory does not suffice: two cells at opposite corners of a sheet ask for 500 GB.
The old format is laid out even before the first sheet can be asked for.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
import csv
from enum import IntEnum
from io import BytesIO, StringIO
import json
import resource
import sys
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook

MOST_ROWS = 50_000  # of one sheet
MOST_MEMORY = 1024**3  # 10 million cells need 420 MB
MOST_CPU_SECONDS = 20  # of the process; the kernel ends it


class Outcome(IntEnum):
    """How the process ended, as its exit code; 1 is an error that nobody expected."""

    READ = 0
    DAMAGED = 3
    LOCKED = 4
    TOO_LARGE = 5


def main() -> Outcome:
    """Reads a workbook from the standard input and writes each sheet as a line of JSON."""
    _limit(resource.RLIMIT_AS, MOST_MEMORY)
    _limit(resource.RLIMIT_CPU, MOST_CPU_SECONDS)
    _limit(resource.RLIMIT_CORE, 0)
    try:
        for name, text in sheets(sys.stdin.buffer.read()):
            sys.stdout.write(json.dumps([name, text]) + "\n")
            sys.stdout.flush()
    except CalamineError as error:
        return Outcome.LOCKED if "assword" in str(error) else Outcome.DAMAGED
    except MemoryError:
        return Outcome.TOO_LARGE
    return Outcome.READ


def sheets(data: bytes) -> Iterator[tuple[str, str]]:
    """The name of each sheet, and its rows as comma-separated values.

    Raises:
        CalamineError: It is no workbook, or it is locked.
    """
    book = CalamineWorkbook.from_filelike(BytesIO(data))
    for name in book.sheet_names:
        yield name, _rows(book.get_sheet_by_name(name).to_python(nrows=MOST_ROWS))


def _limit(what: int, most: int) -> None:
    """Sets a limit, unless a lower one holds already; macOS knows none for the memory."""
    with suppress(ValueError):
        resource.setrlimit(what, (most, most))


def _rows(rows: Sequence[Sequence[Any]]) -> str:
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [_plain(cell) for cell in row] for row in rows if any(cell != "" for cell in row)
    )
    return text.getvalue().rstrip("\n")


def _plain(cell: Any) -> Any:
    """A whole number without the point that every number of a workbook has."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


if __name__ == "__main__":
    sys.exit(main())
