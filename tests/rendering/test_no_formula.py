"""Cells that no spreadsheet takes for formulas."""

import pytest

from copilot_admin.rendering.no_formula import no_formula

SIGNS = "=+-@＝＋－＠﹦﹢﹣﹫"  # of all widths


@pytest.mark.parametrize(
    "before", ["", "  ", "\t", "\n", "\u00a0", "\u3000", "\u200b", "\ufeff", "\x0b"]
)
@pytest.mark.parametrize("first", SIGNS)
def test_a_cell_is_no_formula(first: str, before: str):
    assert no_formula(f"{before}{first}1+1") == f"'{before}{first}1+1"
    assert no_formula(f"1{before}{first}1") == f"1{before}{first}1"


@pytest.mark.parametrize("first", "\t\r\n")
def test_a_cell_begins_with_no_break(first: str):
    assert no_formula(f"{first}words") == f"'{first}words"


@pytest.mark.parametrize("plain", [-1, 0, None, "", "  ", "Почему?", "  words", "'=1", '"=1"', "¼"])
def test_other_cells_are_as_they_are(plain: str | int | None):
    assert no_formula(plain) == plain
