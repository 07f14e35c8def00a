"""Excel workbooks, old and new: each sheet as rows of comma-separated values.

The library lays a sheet out as a full table, from its first cell to its last, and aborts the
process when the memory does not suffice: two cells at opposite corners of a sheet ask for 500 GB.
The old format is laid out even before the first sheet can be asked for.
"""

from collections.abc import Iterator, Sequence
import csv
from io import BytesIO, StringIO
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook

from copilot_admin.engine.documents.old_office import check_unlocked
from copilot_admin.engine.documents.registry import (
    DocumentPage,
    Format,
    PageWord,
    UnreadableFile,
    check_archive,
)

MOST_ROWS = 50_000  # of one sheet


def _read(data: bytes) -> Iterator[DocumentPage]:
    check_unlocked(data, what="workbook")
    if data[:2] == b"PK":
        check_archive(data)
    try:
        book = CalamineWorkbook.from_filelike(BytesIO(data))
        for number, name in enumerate(book.sheet_names, start=1):
            rows = book.get_sheet_by_name(name).to_python(nrows=MOST_ROWS)
            yield DocumentPage(number=number, name=name, text=_text(rows))
    except CalamineError as error:
        if "assword" in str(error):
            raise UnreadableFile("The workbook is locked with a password. Unlock it.") from error
        raise ValueError("no workbook") from error


def _text(rows: Sequence[Sequence[Any]]) -> str:
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [_plain(cell) for cell in row] for row in rows if any(cell != "" for cell in row)
    )
    return text.getvalue().rstrip("\n")


def _plain(cell: Any) -> Any:
    """A whole number without the point that every number of a workbook has."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


WORKBOOK = Format(
    data_types=("xlsx", "xls"),
    label="Excel workbook",
    read=_read,
    page_word=PageWord.SHEET,
    too_much=("Delete cells that stand far away from the rest, or attach a part of it, or CSV."),
)
