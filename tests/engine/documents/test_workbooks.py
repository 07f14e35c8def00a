"""Workbooks whose tables are far larger than what stands in them."""

from io import BytesIO
import json
import resource
import runpy
import subprocess
import sys

import pytest
from python_calamine import CalamineError

from copilot_admin.engine.documents import workbook, workbook_sheets
from copilot_admin.engine.documents.registry import UnreadableFile, read_document
from copilot_admin.engine.documents.workbook_sheets import Outcome
from tests.engine.files.sample_files import archive, xls, xlsx

TOO_LARGE = (
    "Its sheets need too much memory: their cells lie far apart, or there are too many. Delete "
    "what stands far away from the rest, or attach a part of it, or CSV."
)
PRICES = xlsx({"Prices": [["day", "price"], ["Mon", 1.5]]})
CELLS = (
    '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
)
SPREADSHEET = "application/vnd.oasis.opendocument.spreadsheet"
REPEATED = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"><office:body>'
    '<office:spreadsheet><table:table table:name="A"><table:table-row '
    'table:number-rows-repeated="1000"><table:table-cell office:value-type="float" '
    'office:value="1" table:number-columns-repeated="16384"/></table:table-row></table:table>'
    "</office:spreadsheet></office:body></office:document-content>"
)
BOMBS = {
    "two distant cells": xlsx({"A": []}, inside=CELLS),
    "old format, two distant cells": xls((0, 0), (65535, 65535)),
    "old format, a directory without end": xls((0, 0), endless=True),
    "OpenDocument, a repeated cell": archive(
        {
            "mimetype": SPREADSHEET,
            "META-INF/manifest.xml": '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:'
            f'manifest:1.0"><m:file-entry m:full-path="/" m:media-type="{SPREADSHEET}"/>'
            "</m:manifest>",
            "content.xml": REPEATED,
        }
    ),
}
READ = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
sys.path[:] = {sys.path!r}
from copilot_admin.engine.documents.registry import UnreadableFile, read_document
try:
    read_document(sys.stdin.buffer.read(), data_type="xlsx", name="bomb")
except UnreadableFile as error:
    print(error.public)
with open("/proc/self/status") as status:
    (most,) = (int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
print(most // 1024 < 300)
"""


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_small_workbook_with_a_huge_table_is_refused_in_words(bomb):
    data = BOMBS[bomb]
    assert len(data) < 6000
    # In a process of its own with a limit, so that a failure of this test harms nothing. What
    # getrusage tells of it would begin with the memory of the process of this test.
    done = subprocess.run([sys.executable, "-c", READ], input=data, capture_output=True, check=True)
    assert done.stdout.decode() == f"{TOO_LARGE}\nTrue\n"


def test_the_old_format_is_read():
    document = read_document(xls((0, 0), (2, 1)), data_type="xls", name="A")
    assert document.text == "[sheet A]\n1.5,\n,1.5"


def test_cells_far_away_that_are_only_formatted_do_not_matter():
    far = CELLS.replace("<v>2</v>", "")
    document = read_document(xlsx({"A": []}, inside=far), data_type="xlsx", name="A")
    assert document.text == "[sheet A]\n1"


def test_a_sheet_that_is_longer_than_is_taken_at_once_is_refused(monkeypatch):
    monkeypatch.setattr(workbook, "MOST_LINE", 10)
    with pytest.raises(UnreadableFile) as refused:
        read_document(PRICES, data_type="xlsx", name="A")
    assert refused.value.public == TOO_LARGE


class _Stream:
    def __init__(self, data):
        self.buffer = BytesIO(data)


@pytest.fixture
def limits(monkeypatch):
    """The limits that the process would set for itself."""
    found = []

    def setrlimit(what, limits):
        found.append((what, limits))
        if what == resource.RLIMIT_AS:
            raise ValueError("not here")

    monkeypatch.setattr(workbook_sheets.resource, "setrlimit", setrlimit)
    return found


def ended(data, monkeypatch):
    monkeypatch.setattr(workbook_sheets.sys, "stdin", _Stream(data))
    return workbook_sheets.main()


def test_the_process_limits_itself_and_writes_a_line_for_each_sheet(limits, monkeypatch, capsys):
    assert ended(PRICES, monkeypatch) == Outcome.READ
    assert json.loads(capsys.readouterr().out) == ["Prices", "day,price\nMon,1.5"]
    assert limits == [
        (resource.RLIMIT_AS, (2**30, 2**30)),
        (resource.RLIMIT_CPU, (20, 20)),
        (resource.RLIMIT_CORE, (0, 0)),
    ]


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (CalamineError("Workbook is password protected"), Outcome.LOCKED),
        (CalamineError("Cannot detect file format"), Outcome.DAMAGED),
        (MemoryError(), Outcome.TOO_LARGE),
    ],
)
def test_the_process_says_by_its_code_why_it_ended(error, outcome, limits, monkeypatch):
    def sheets(data):
        raise error

    monkeypatch.setattr(workbook_sheets, "sheets", sheets)
    assert ended(b"", monkeypatch) == outcome


def test_the_outcome_is_the_exit_code(limits, monkeypatch):
    monkeypatch.setattr(sys, "stdin", _Stream(b"nothing like it"))
    with pytest.raises(SystemExit) as left:
        runpy.run_path(workbook_sheets.__file__, run_name="__main__")
    assert left.value.code == Outcome.DAMAGED


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (Outcome.LOCKED, "The workbook is locked with a password. Unlock it."),
        (Outcome.TOO_LARGE, TOO_LARGE),
        (Outcome.DAMAGED, "It is no Excel workbook, or it is damaged. Attach it again."),
        (1, "It is no Excel workbook, or it is damaged. Attach it again."),
    ],
)
def test_how_the_process_ended_is_told_in_words(outcome, told, monkeypatch):
    monkeypatch.setattr(workbook_sheets, "__name__", "tests.engine.documents.ending_workbook")
    with pytest.raises(UnreadableFile) as refused:
        read_document(str(int(outcome)).encode(), data_type="xlsx", name="A")
    assert refused.value.public == told
