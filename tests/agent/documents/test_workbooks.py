"""Workbooks of either format; what is done about their far too large tables is in `files`."""

import pytest

from copilot_admin.agent.documents import workbook
from copilot_admin.agent.documents.document import UnreadableFile
from copilot_admin.agent.documents.registry import read_document
from tests.agent.files.hostile_files import CELLS, members_of
from tests.agent.files.sample_files import archive, xls, xlsx

HOURS, DAY = "[h]:mm", "yyyy-mm-dd"  # how a cell is written
PRICES = xlsx({"Prices": [["day", "price"], ["Mon", 1.5]]})


def with_form(data: bytes, form: str) -> bytes:
    """A workbook whose cells of style 1 are written in this form."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    styles = (
        f'<styleSheet xmlns="{main}"><numFmts count="1"><numFmt numFmtId="170" formatCode="{form}"/>'
        '</numFmts><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="170"/></cellXfs></styleSheet>'
    )
    return archive({**members_of(data), "xl/styles.xml": styles})


def test_the_old_format_is_read():
    document = read_document(xls((0, 0), (2, 1)), data_type="xls", name="A")
    assert document.text == "[sheet A]\n1.5,\n,1.5"


def test_cells_far_away_that_are_only_formatted_do_not_matter():
    far = CELLS.replace("<v>2</v>", "")
    document = read_document(xlsx({"A": []}, inside=far), data_type="xlsx", name="A")
    assert document.text == "[sheet A]\n1"


def test_a_sheet_that_cannot_be_read_costs_none_of_the_others():
    error = '<row><c t="e"><v>#SPILL!</v></c></row>'  # which the library does not know
    parts = members_of(xlsx({"A": [["one"]], "B": [["two"]], "C": [["three"]]}))
    sheet = "xl/worksheets/sheet2.xml"
    parts[sheet] = parts[sheet].replace("</sheetData>", f"{error}</sheetData>")
    document = read_document(archive(parts), data_type="xlsx", name="A")
    assert document.text == (
        "[sheet A]\none\n[sheet B]\n\n[sheet C]\nthree\n[sheet B: it could not be read]"
    )
    with pytest.raises(UnreadableFile, match="It is no Excel workbook, or it is damaged"):
        read_document(xlsx({"A": []}, inside=error), data_type="xlsx", name="A")


@pytest.mark.parametrize(
    ("more", "said"), [(0, ""), (1, "[sheet A: only the first 3 of 4 rows were read]")]
)
def test_a_sheet_that_is_cut_says_so(more, said, monkeypatch):
    monkeypatch.setattr(workbook, "MOST_ROWS", 3)
    sheets = xlsx({"A": [[1]] * (3 + more), "B": [["b"]]})
    document = read_document(sheets, data_type="xlsx", name="A")
    assert document.text == "\n".join(filter(None, ("[sheet A]\n1\n1\n1\n[sheet B]\nb", said)))
    assert document.left_out == said


@pytest.mark.parametrize(
    ("value", "form"),
    [("1e9", HOURS), ("1e20", HOURS), ("-1e20", HOURS), ("-2e9", HOURS), ("-1e20", DAY)],
)
def test_a_time_that_no_calendar_has_costs_its_row_and_no_more(value, form):
    far = [f'<row r="{row}"><c r="A{row}" s="1"><v>{value}</v></c></row>' for row in (2, 4)]
    behind = '<row r="5"><c r="A5"><v>2</v></c></row>'
    data = with_form(xlsx({"A": [["day"]]}, inside="".join((*far, behind))), form)
    document = read_document(data, data_type="xlsx", name="A")
    lost = "[sheet A: rows with a date or time that is too long were left out: 2]"
    assert document.text == f"[sheet A]\nday\n2\n{lost}"


def test_other_faults_of_a_sheet_are_those_of_the_file(monkeypatch):
    class Broken:
        def __getattr__(self, name):
            raise workbook.CalamineError("no rows")

    class Book:
        sheet_names = ("A",)

        def get_sheet_by_name(self, name):
            return Broken()

    monkeypatch.setattr(
        workbook.CalamineWorkbook, "from_filelike", lambda file: Book(), raising=False
    )
    with pytest.raises(UnreadableFile, match="It is no Excel workbook, or it is damaged"):
        read_document(PRICES, data_type="xlsx", name="A")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            "Workbook is password protected",
            "The workbook is locked with a password. Unlock it.",
        ),
        (
            "Cannot detect file format",
            "It is no Excel workbook, or it is damaged. Attach it again.",
        ),
    ],
)
def test_a_workbook_that_the_library_refuses_is_told(error, told, monkeypatch):
    class Refusing:
        @staticmethod
        def from_filelike(file):
            raise workbook.CalamineError(error)

    monkeypatch.setattr(workbook, "CalamineWorkbook", Refusing)
    with pytest.raises(UnreadableFile) as refused:
        read_document(PRICES, data_type="xlsx", name="A")
    assert refused.value.public == told
