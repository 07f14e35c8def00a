"""Rows of a list: a blank one is the pattern of new ones with its number in it."""

from typing import Any

from django.utils.translation import override
import pytest

from copilot_admin.admin.common.rows import RowsField, RowsWidget, _drawn, _pattern
from copilot_admin.admin.copilots.form import CopilotForm

LISTS = {
    name: field for name, field in CopilotForm.base_fields.items() if isinstance(field, RowsField)
}


@pytest.mark.parametrize("name", LISTS)
def test_a_blank_row_is_drawn_as_its_form_says(name: str) -> None:
    widget: RowsWidget = LISTS[name].widget
    drawn: dict[str, Any] = widget.get_context(name, [], None)["widget"]
    blank = widget.unbound(name, []).forms[0]
    assert drawn["rows"] == [_drawn(blank, number="1")]
    assert "__prefix__" in drawn["pattern"]
    assert "__prefix__" not in drawn["rows"][0]


def test_a_pattern_is_drawn_once_for_each_language() -> None:
    _pattern.cache_clear()
    widget: RowsWidget = LISTS["starters"].widget
    for language in ("de", "ar", "de"):
        with override(language):
            widget.get_context("starters", [], None)
    assert (_pattern.cache_info().misses, _pattern.cache_info().hits) == (2, 1)
