"""Workbooks of either format; what is done about their far too large tables is in `files`."""

import pytest

from copilot_admin.engine.documents import workbook
from copilot_admin.engine.documents.registry import UnreadableFile, read_document
from tests.engine.files.hostile_files import CELLS
from tests.engine.files.sample_files import xls, xlsx

PRICES = xlsx({"Prices": [["day", "price"], ["Mon", 1.5]]})


def test_the_old_format_is_read():
    document = read_document(xls((0, 0), (2, 1)), data_type="xls", name="A")
    assert document.text == "[sheet A]\n1.5,\n,1.5"


def test_cells_far_away_that_are_only_formatted_do_not_matter():
    far = CELLS.replace("<v>2</v>", "")
    document = read_document(xlsx({"A": []}, inside=far), data_type="xlsx", name="A")
    assert document.text == "[sheet A]\n1"


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
