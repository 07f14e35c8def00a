"""Make the files of the corpus that LibreOffice writes: `python -m tests...corpus.make_files`.

The tests read them from `files/`, since LibreOffice isn't on every machine.
"""

from datetime import datetime
from io import BytesIO
from pathlib import Path
import subprocess
from tempfile import TemporaryDirectory
from typing import Any

import xlsxwriter

from tests.agent.documents.corpus import office

FILES = Path(__file__).parent / "files"


def write_results() -> bytes:
    file = BytesIO()
    with xlsxwriter.Workbook(file) as book:
        sheet = book.add_worksheet("P&L")
        percent = book.add_format({"num_format": "0.0%"})
        euros = book.add_format({"num_format": "#,##0.00 [$€-407]"})
        day = book.add_format({"num_format": "dd/mm/yyyy"})
        sheet.merge_range("B1:C1", "2024")
        sheet.write_row(1, 0, ["", "Q1", "Q2"])
        sheet.write(2, 0, "Margin")
        sheet.write_row(2, 1, [0.125, 0.2], percent)
        sheet.write_row(3, 0, ["Cash"])
        sheet.write(3, 1, 1234.5, euros)
        sheet.write_datetime(4, 1, datetime(2024, 3, 1), day)
        sheet.write_formula(5, 1, "=1/0", None, "#DIV/0!")
        hidden = book.add_worksheet("Assumptions")
        hidden.write(0, 0, "hidden 77")
        hidden.hide()
    return file.getvalue()


def fill_memo(document: Any) -> None:
    document.add_heading("Memo 2024", 1)
    office.reference("footnote")(document)
    table = document.add_table(2, 3)
    for row, texts in enumerate((("Segment", "Q1", "Q2"), ("Retail", "10", "12"))):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text


def convert(data: bytes, name: str, extension: str, target: str) -> None:
    with TemporaryDirectory() as folder:
        source = Path(folder) / name
        source.write_bytes(data)
        command = ["soffice", "--headless", "--convert-to", extension, "--outdir", f"{folder}/out"]
        subprocess.run([*command, str(source)], check=True, capture_output=True)
        (FILES / target).write_bytes((Path(folder) / "out" / target).read_bytes())


def main() -> None:
    FILES.mkdir(exist_ok=True)
    for extension in ("xls", "ods", "xlsx"):
        convert(write_results(), "results.xlsx", extension, f"results.{extension}")
    notes = office.NOTES.format(kind="footnote")
    memo = office.with_footnotes(office.docx(fill_memo), notes)()
    for extension in ("docx", "rtf", "pdf"):
        convert(memo, "memo.docx", extension, f"memo.{extension}")
    convert(office.pptx(office.slides)(), "slides.pptx", "pptx", "slides.pptx")


if __name__ == "__main__":
    main()
