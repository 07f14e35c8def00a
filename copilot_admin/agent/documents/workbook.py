"""Excel workbooks, old and new: each sheet as rows of comma-separated values.

The library lays a sheet out as a full table, from its first cell to its last, and aborts the
process when the memory does not suffice: two cells at opposite corners of a sheet ask for 500 GB.
The old format is laid out even before the first sheet can be asked for.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
import csv
from functools import partial
from io import BytesIO, StringIO
from typing import Any, TypeVar

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook

from copilot_admin.agent.documents.formats import (
    LONGEST_NAME,
    DocumentPage,
    Format,
    PageWord,
    UnreadableFile,
    check_archive,
    each_part,
)
from copilot_admin.agent.documents.old_office import check_unlocked

T = TypeVar("T")
MOST_ROWS = 50_000  # of one sheet


def _read(data: bytes) -> Iterator[DocumentPage]:
    check_unlocked(data, what="workbook")
    if data[:2] == b"PK":
        check_archive(data)
    try:
        book = CalamineWorkbook.from_filelike(BytesIO(data))
    except CalamineError as error:
        if "assword" in str(error):
            raise UnreadableFile("The workbook is locked with a password. Unlock it.") from error
        raise ValueError("no workbook") from error
    yield from each_part(_sheets(book), damage=CalamineError)


def _sheets(
    book: CalamineWorkbook,
) -> Iterator[tuple[DocumentPage, Callable[[], DocumentPage]]]:
    for number, name in enumerate(book.sheet_names, start=1):
        note = f"[sheet {name[:LONGEST_NAME]}: it could not be read]"
        instead = DocumentPage(number=number, name=name, text="", note=note)
        yield instead, partial(_sheet, book, number, name)


def _sheet(book: CalamineWorkbook, number: int, name: str) -> DocumentPage:
    rows, note = _rows(book.get_sheet_by_name(name))
    return DocumentPage(number=number, name=name, text=_text(rows), note=note)


def _rows(sheet: CalamineSheet) -> tuple[Sequence[Sequence[Any]], str]:
    whole = _unless_a_cell_breaks(partial(sheet.to_python, nrows=MOST_ROWS))
    if whole is not None:
        return whole, _note(sheet, lost=0)
    rows = list(_one_by_one(sheet))
    read = [row for row in rows if row is not None]
    return read, _note(sheet, lost=len(rows) - len(read))


def _note(sheet: CalamineSheet, *, lost: int) -> str:
    said = []
    if sheet.height > MOST_ROWS:
        said.append(f"only the first {MOST_ROWS:,} of {sheet.height:,} rows were read")
    if lost:
        said.append(f"rows with a date or time that is too long were left out: {lost:,}")
    return f"[sheet {sheet.name[:LONGEST_NAME]}: {', '.join(said)}]" if said else ""


def _one_by_one(sheet: CalamineSheet) -> Iterator[Sequence[Any] | None]:
    rows = sheet.iter_rows()
    with suppress(StopIteration):
        for _ in range(MOST_ROWS):
            yield _unless_a_cell_breaks(partial(next, rows))


def _unless_a_cell_breaks(read: Callable[[], T]) -> T | None:
    """What is read; None where there is a duration of more days than may be, or a date before all time.

    What the library's Rust panics with has no name to import, and is no `Exception`.
    """
    try:
        return read()
    except BaseException as error:  # a row's boundary (ADR 1): a panic of Rust is no Exception
        if isinstance(error, OverflowError) or type(error).__name__ == "PanicException":
            return None
        raise


def _text(rows: Sequence[Sequence[Any]]) -> str:
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [_plain(cell) for cell in row] for row in rows if any(cell != "" for cell in row)
    )
    return text.getvalue().rstrip("\n")


def _plain(cell: Any) -> Any:
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


WORKBOOK = Format(
    data_types=("xlsx", "xls"),
    label="Excel workbook",
    read=_read,
    page_word=PageWord.SHEET,
    too_much=("Delete cells that stand far away from the rest, or attach a part of it, or CSV."),
)
