"""An assertion is exactly one of its kinds."""

from pydantic import ValidationError
import pytest

from copilot_admin.copilots.assertions import Assertion, AssertionKind


@pytest.mark.parametrize(
    ("row", "kind", "text"),
    [
        ({"contains": "a"}, AssertionKind.CONTAINS, "a"),
        ({"lacks": "a"}, AssertionKind.LACKS, "a"),
        ({"number": 3, "tolerance": 0.5}, AssertionKind.NUMBER, "3"),
        ({"number": 0}, AssertionKind.NUMBER, "0"),
        ({"cites": "w"}, AssertionKind.CITES, "w"),
        ({"calls": "f"}, AssertionKind.CALLS, "f"),
        ({"judged": "100 % sure."}, AssertionKind.JUDGED, "100 % sure."),
    ],
)
def test_a_row_is_one_assertion_and_comes_back(row, kind, text):
    assertion = Assertion.model_validate(row)
    assert (assertion.kind, assertion.text, assertion.row()) == (kind, text, row)
    assert text in assertion.summary and assertion.kind.label


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"matches": "a"},
        {"contains": "a", "lacks": "b"},
        {"tolerance": 1},
        {"contains": "a", "tolerance": 1},
        {"contains": " "},
        {"contains": "a" * 2001},
        {"number": float("inf")},
        {"number": True},
        {"number": 1, "tolerance": -1},
    ],
)
def test_anything_else_is_refused(row):
    with pytest.raises(ValidationError):
        Assertion.model_validate(row)
