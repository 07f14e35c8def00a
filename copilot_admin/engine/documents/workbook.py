"""Excel workbooks, old and new: each sheet as rows of comma-separated values."""

from collections.abc import Iterator, Sequence
import csv
from io import BytesIO, StringIO
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook

from copilot_admin.engine.documents.registry import Format, Page, UnreadableFile, check_archive

MOST_ROWS = 50_000  # of one sheet


def _read(data: bytes) -> Iterator[Page]:
    if data[:2] == b"PK":
        check_archive(data)
    try:
        book = CalamineWorkbook.from_filelike(BytesIO(data))
        for number, name in enumerate(book.sheet_names, start=1):
            rows = book.get_sheet_by_name(name).to_python(nrows=MOST_ROWS)
            yield Page(number=number, name=name, text=_rows(rows))
    except CalamineError as error:
        if "assword" in str(error):
            raise UnreadableFile("The workbook is locked with a password. Unlock it.") from error
        raise ValueError("no workbook") from error


def _rows(rows: Sequence[Sequence[Any]]) -> str:
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [_plain(cell) for cell in row] for row in rows if any(cell != "" for cell in row)
    )
    return text.getvalue().rstrip("\n")


def _plain(cell: Any) -> Any:
    """A whole number without the point that every number of a workbook has."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


WORKBOOK = Format(data_types=("xlsx", "xls"), label="Excel workbook", read=_read)
