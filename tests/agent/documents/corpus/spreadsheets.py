"""Spreadsheets, written with xlsxwriter, openpyxl and LibreOffice."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from io import BytesIO
from typing import Any

import openpyxl
import xlsxwriter

from tests.agent.documents.corpus.case import Case, libreoffice


def write_xlsx(sheets: Mapping[str, Sequence[Sequence[Any]]]) -> bytes:
    file = BytesIO()
    with xlsxwriter.Workbook(file) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return file.getvalue()


def build(fill: Callable[[Any], None]) -> Callable[[], bytes]:
    """Return a builder of a workbook that is filled with xlsxwriter."""

    def write() -> bytes:
        file = BytesIO()
        with xlsxwriter.Workbook(file, {"default_date_format": "yyyy-mm-dd"}) as book:
            fill(book)
        return file.getvalue()

    return write


def build_openpyxl(fill: Callable[[Any], None]) -> Callable[[], bytes]:
    def write() -> bytes:
        file = BytesIO()
        book = openpyxl.Workbook()
        fill(book)
        book.save(file)
        return file.getvalue()

    return write


def formats(book: Any) -> None:
    sheet = book.add_worksheet("Formats")
    rows = [
        (0.125, "0.0%"),
        (1234.5, '#,##0.00 "€"'),
        (1234.5, "[$$-409]#,##0.00"),
        (-1234.5, "#,##0.00;[Red](#,##0.00)"),
        (datetime(2024, 1, 31), "dd.mm.yyyy"),
        (datetime(2024, 1, 31, 14, 5), "d mmm yyyy hh:mm"),
        (0.05, "0.00%"),
        (1234567, "#,##0"),
        (0.1 + 0.2, "General"),
        (42, '0" bp"'),
        (1234567, "0.0,,"),
        (0, '#,##0;-#,##0;"none"'),
        (datetime(2024, 1, 31, 14, 5), "h:mm AM/PM"),
        (0.5, "0.0##"),
    ]
    for number, (value, code) in enumerate(rows):
        sheet.write(number, 0, value, book.add_format({"num_format": code}))


def uncached(book: Any) -> None:
    sheet = book.active
    sheet.append(["Item", "Amount"])
    sheet.append(["a", 10])
    sheet.append(["b", 32])
    sheet.append(["Sum", "=SUM(B2:B3)"])


def zero_cached(book: Any) -> None:
    sheet = book.add_worksheet()
    sheet.write_column(0, 0, [10, 32])
    sheet.write_formula(2, 0, "=SUM(A1:A2)")
    sheet.write_formula(3, 0, "=A1*2", None, 20)


def errors(book: Any) -> None:
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["Ratio", "Lookup"])
    sheet.write_formula(1, 0, "=1/0", None, "#DIV/0!")
    sheet.write_formula(1, 1, "=NA()", None, "#N/A")


def hidden(book: Any) -> None:
    book.add_worksheet("Shown").write(0, 0, "visible 55")
    sheet = book.add_worksheet("Assumptions")
    sheet.write(0, 0, "rate 0.07")
    sheet.hide()


def large(book: Any) -> None:
    sheet = book.add_worksheet("Data")
    for number in range(21_000):
        sheet.write_row(number, 0, [number, f"row {number}"])


def charts(book: Any) -> None:
    sheet = book.add_worksheet("Numbers")
    sheet.write_column(0, 0, [1, 2, 3])
    chart = book.add_chart({"type": "column"})
    chart.add_series({"values": "=Numbers!$A$1:$A$3"})
    book.add_chartsheet("Chart").set_chart(chart)


_RESULTS = ("Margin,12.5%,20.0%", '"1,234.50 €"', "01/03/2024", "#DIV/0!", "hidden 77")

CASES = (
    Case(
        "number formats",
        "xlsx",
        build(formats),
        must=(
            "12.5%",
            "1,234.50 €",
            "$1,234.50",
            "(1,234.50)",
            "31.01.2024",
            "31 Jan 2024 14:05",
            "5.00%",
            "1,234,567",
            "0.3\n",
            "42 bp",
            "1.2",
            "none",
            "2:05 PM",
            "0.5",
        ),
        must_not=("0.125", "45322", "0.30000000000000004"),
    ),
    Case(
        "formula without a stored value",
        "xlsx",
        build_openpyxl(uncached),
        must=("Item,Amount", "a,10", "b,32", "Sum,=SUM(B2:B3)"),
    ),
    Case(
        "formula with a zero that nobody calculated",
        "xlsx",
        build(zero_cached),
        must=("10\n32\n=SUM(A1:A2)\n20",),
    ),
    Case("errors", "xlsx", build(errors), must=("Ratio,Lookup\n#DIV/0!,#N/A",)),
    Case(
        "hidden sheet",
        "xlsx",
        build(hidden),
        must=("[sheet Shown]\nvisible 55", "[sheet Assumptions]\nrate 0.07", "it is hidden"),
    ),
    Case(
        "more rows than are read",
        "xlsx",
        build(large),
        must=("19999,row 19999", "only rows 1 to 20,000 of 21,000 were read, columns A to B"),
        must_not=("row 20001",),
    ),
    Case("chart sheet", "xlsx", build(charts), must=("[sheet Numbers]\n1\n2\n3",)),
    *(
        Case(
            f"{extension} by LibreOffice",
            extension,
            libreoffice(f"results.{extension}"),
            must=_RESULTS,
            once=("12.5%", "77"),
        )
        for extension in ("xls", "ods", "xlsx")
    ),
    Case(
        "locked with a password",
        "xlsx",
        lambda: (
            bytes.fromhex("d0cf11e0a1b11ae1") + "EncryptedPackage".encode("utf-16-le") + bytes(600)
        ),
        error="locked with a password",
    ),
    Case("damaged workbook", "xlsx", lambda: write_xlsx({"A": [["x", 1]]})[:2000], error="damaged"),
)
