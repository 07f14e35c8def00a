"""Read spreadsheets (xlsx, xlsm, xls, ods): each sheet as rows of comma-separated formatted values.

A formula without a stored value remains a formula, since nothing is calculated here.
"""

from collections.abc import Iterable, Iterator, Sequence
import csv
from dataclasses import dataclass
from functools import cache
from io import BytesIO, StringIO
from itertools import repeat
import re
from typing import Any

import xlrd
from xlrd.formula import colname

from copilot_admin.agent.documents.document import DocumentPage, Format, UnreadableFile
from copilot_admin.agent.documents.number_formats import write_cell
from copilot_admin.agent.documents.office import describe_unread_parts, open_archive, read_xml

MAX_CELLS = 200_000  # of a file; openpyxl reads 100,000 in a second
MAX_ROWS = 20_000  # of a sheet
MAX_COLUMNS = 1_000
MAX_MERGED = 50  # ranges that are named, of a sheet
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_MERGED = re.compile(rb'<mergeCell [^>]*ref="([A-Z]+[0-9]+:[A-Z]+[0-9]+)"')


@dataclass(slots=True)
class _Sheet:
    """A sheet whose rows are read when they are iterated."""

    name: str
    rows: Iterable[Sequence[str]]
    is_hidden: bool
    n_rows: int = 0  # in total, if the file declares it
    merged: Sequence[str] = ()  # ranges of cells, such as a heading over several columns


def _read(data: bytes) -> Iterator[DocumentPage]:
    left = MAX_CELLS
    file_notes = _describe_book(data)
    for number, sheet in enumerate(_open(data), start=1):
        text, count, notes = _write(sheet, left)
        left -= count
        sheet_notes = [f"sheet {sheet.name[:100]}: {'; '.join(notes)}"] if notes else []
        all_notes = [*(file_notes if number == 1 else ()), *sheet_notes]
        note = f"[{'; '.join(all_notes)}]" if all_notes else ""
        yield DocumentPage(number=number, name=sheet.name, text=text, note=note, noun="sheet")


def _describe_book(data: bytes) -> list[str]:
    if data[:2] != b"PK":
        return []
    with open_archive(data) as archive:
        return describe_unread_parts(archive)


def _open(data: bytes) -> Iterator[_Sheet]:
    if data[:2] != b"PK":
        return _open_xls(data)
    with open_archive(data) as archive:
        names = frozenset(archive.namelist())
        if "content.xml" in names:
            return _open_ods(read_xml(archive, "content.xml"))
        if "xl/workbook.bin" in names:
            raise UnreadableFile("Binary workbooks (xlsb) aren't read. Save it as .xlsx.")
        has_formulas = any(
            re.search(rb"<f[ >/]", archive.read(name))
            for name in names
            if name.startswith("xl/worksheets/") and name.endswith(".xml")
        )
        # Programs that can't calculate write 0 and set a flag for Excel to calculate on opening.
        is_uncalculated = b'fullCalcOnLoad="1"' in archive.read("xl/workbook.xml")
    return _open_xlsx(data, has_formulas=has_formulas, is_uncalculated=is_uncalculated)


def _write(sheet: _Sheet, left: int) -> tuple[str, int, list[str]]:
    """Return the rows that fit as text, the number of their cells, and notes on the others."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    notes = ["it is hidden"] if sheet.is_hidden else []
    cells = columns = 0
    is_after_blank = True
    for index, row in enumerate(sheet.rows):
        width = max((place for place, cell in enumerate(row, start=1) if cell), default=0)
        if width == 0:
            text.write("" if is_after_blank else "\n")
            is_after_blank = True
            continue
        if index >= MAX_ROWS or cells + width > left:
            size = f" of {sheet.n_rows:,}" if sheet.n_rows else ""
            last = colname(max(columns, 1) - 1)
            notes.append(f"only rows 1 to {index:,}{size} were read, columns A to {last}")
            break
        is_after_blank = False
        columns = max(columns, width)
        cells += width
        writer.writerow(row[: min(width, MAX_COLUMNS)])
    if columns > MAX_COLUMNS:
        notes.append(f"only the first {MAX_COLUMNS:,} of {columns:,} columns were read")
    parts = [text.getvalue().strip("\n")]
    if sheet.merged:
        parts.append(f"[merged cells: {', '.join(sheet.merged[:MAX_MERGED])}]")
    return "\n".join(parts), cells, notes


def _open_xlsx(data: bytes, *, has_formulas: bool, is_uncalculated: bool) -> Iterator[_Sheet]:
    import openpyxl  # 25 MB with numpy, which the server needn't load

    def load(*, data_only: bool) -> Any:
        return openpyxl.load_workbook(BytesIO(data), read_only=True, data_only=data_only)

    values = load(data_only=True)
    formulas = load(data_only=False) if has_formulas else None
    for sheet in values.worksheets:
        n_rows = sheet.max_row or 0
        others = [sheet] if formulas is None else [sheet, formulas[sheet.title]]
        for one in others:
            one.reset_dimensions()  # sizes that files declare are often wrong
        cells = [one.iter_rows() for one in others]
        rows = _rows_of_xlsx(*cells, is_uncalculated=is_uncalculated)
        with sheet._get_source() as source:
            merged = [one.decode() for one in _MERGED.findall(source.read())]
        yield _Sheet(sheet.title, rows, sheet.sheet_state != "visible", n_rows, merged)


def _rows_of_xlsx(
    values: Iterable[Sequence[Any]],
    formulas: Iterable[Sequence[Any]] = repeat(()),
    *,
    is_uncalculated: bool,
) -> Iterator[list[str]]:
    for row, others in zip(values, formulas, strict=False):
        cells = [write_cell(cell.value, getattr(cell, "number_format", "General")) for cell in row]
        for place, other in enumerate(others[: len(cells)]):
            is_missing = not cells[place] or (is_uncalculated and row[place].value == 0)
            if other.data_type == "f" and is_missing:
                cells[place] = str(getattr(other.value, "text", other.value))  # of an array formula
        yield cells


def _open_xls(data: bytes) -> Iterator[_Sheet]:
    try:
        book = xlrd.open_workbook(file_contents=data, formatting_info=True, on_demand=True)
    except xlrd.XLRDError as error:
        if "encrypt" in str(error).lower():
            locked = "The workbook is locked with a password. Attach one without."
            raise UnreadableFile(locked) from error
        raise
    for index in range(book.nsheets):
        sheet = book.sheet_by_index(index)
        rows = ([_write_xls_cell(book, one) for one in row] for row in sheet.get_rows())
        merged = [
            f"{colname(left)}{top + 1}:{colname(right - 1)}{bottom}"
            for top, bottom, left, right in sheet.merged_cells
        ]
        yield _Sheet(sheet.name, rows, sheet.visibility != 0, sheet.nrows, merged)
        book.unload_sheet(index)


@cache
def _is_date_format(code: str) -> bool:
    from openpyxl.styles.numbers import is_date_format

    return bool(is_date_format(code))


def _write_xls_cell(book: Any, cell: Any) -> str:
    match cell.ctype:
        case xlrd.XL_CELL_ERROR:
            return str(xlrd.error_text_from_code.get(cell.value, "#ERROR"))
        case xlrd.XL_CELL_BOOLEAN:
            return "TRUE" if cell.value else "FALSE"
        case xlrd.XL_CELL_NUMBER | xlrd.XL_CELL_DATE:
            style = book.xf_list[cell.xf_index] if cell.xf_index is not None else None
            form = book.format_map.get(style.format_key) if style else None
            code = form.format_str if form else "General"
            if not _is_date_format(code):
                return write_cell(cell.value, code)
            try:
                value = xlrd.xldate_as_datetime(cell.value, book.datemode)
            except (ValueError, OverflowError):
                return write_cell(cell.value, "General")
            return write_cell(value.time() if cell.value < 1 else value, code)
        case _:
            return str(cell.value)


def _open_ods(root: Any) -> Iterator[_Sheet]:
    hidden = {
        style.get(f"{_STYLE}name")
        for style in root.iter(f"{_STYLE}style")
        for one in style.iter(f"{_STYLE}table-properties")
        if one.get(f"{_TABLE}display") == "false"
    }
    for table in root.iter(f"{_TABLE}table"):
        is_hidden = table.get(f"{_TABLE}style-name") in hidden
        yield _Sheet(table.get(f"{_TABLE}name", ""), _rows_of_ods(table), is_hidden)


def _rows_of_ods(table: Any) -> Iterator[list[str]]:
    for row in table.iter(f"{_TABLE}table-row"):
        cells: list[str] = []
        for cell in row:
            if cell.tag not in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                continue
            count = int(cell.get(f"{_TABLE}number-columns-repeated", "1"))
            cells += [_text_of_ods(cell)] * max(min(count, MAX_COLUMNS + 1 - len(cells)), 0)
        count = int(row.get(f"{_TABLE}number-rows-repeated", "1"))
        yield from repeat(cells, min(count, MAX_ROWS + 1 if any(cells) else 2))


def _text_of_ods(cell: Any) -> str:
    paragraphs = ("".join(one.itertext()) for one in cell.findall(f"{_TEXT}p"))
    text = "\n".join(paragraphs)
    if not text and (formula := cell.get(f"{_TABLE}formula")):
        return str(cell.get(f"{_OFFICE}value") or formula.partition(":")[2] or formula)
    return text


SPREADSHEET = Format(
    data_types=("xlsx", "xls", "xlsm", "xltx", "ods"),
    label="spreadsheet",
    read=_read,
    page_word="sheet",
    too_much="Delete cells that stand far away from the rest, or attach a part of it, or CSV.",
)
