"""An expectation is exactly one of those there are, as a value and as a row."""

from pydantic import ValidationError
import pytest

from copilot_admin.admin.copilots.questions_form import QuestionForm
from copilot_admin.copilots.questions.expectation import (
    Expectation,
    ExpectationEntry,
    ExpectationKind,
    expectation_in,
)


@pytest.mark.parametrize(
    ("row", "value"),
    [
        ({"contains": "a"}, Expectation(kind=ExpectationKind.CONTAINS, text="a")),
        ({"lacks": "a"}, Expectation(kind=ExpectationKind.LACKS, text="a")),
        (
            {"number": 3, "tolerance": 0.5},
            Expectation(kind=ExpectationKind.NUMBER, number=3.0, tolerance=0.5),
        ),
        ({"number": 0}, Expectation(kind=ExpectationKind.NUMBER)),
        ({"cites": "w"}, Expectation(kind=ExpectationKind.CITES, text="w")),
        ({"calls": "f"}, Expectation(kind=ExpectationKind.CALLS, text="f")),
        ({"judged": "It is."}, Expectation(kind=ExpectationKind.JUDGED, text="It is.")),
    ],
)
def test_a_row_holds_one_expectation_and_gives_it_back(row, value):
    assert expectation_in(row) == value
    assert ExpectationEntry.model_validate(row).row() == row


def test_nothing_need_be_expected():
    assert expectation_in({}) is None


@pytest.mark.parametrize(
    "row",
    [
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
def test_what_is_no_expectation_is_refused(row):
    with pytest.raises(ValidationError):
        ExpectationEntry.model_validate(row)


@pytest.mark.parametrize("kind", ExpectationKind)
def test_people_are_told_of_every_kind(kind):
    expected = Expectation(kind=kind, text="100 % sure", number=106.5)
    (choice,) = (
        label for value, label in QuestionForm.base_fields["kind"].choices if value == kind
    )
    assert choice == kind.label
    assert ("106.5" if kind is ExpectationKind.NUMBER else "100 % sure") in expected.sentence


def test_a_tolerance_is_told_with_its_number():
    expected = Expectation(kind=ExpectationKind.NUMBER, number=3, tolerance=0.5)
    assert expected.sentence == "It has the number 3, give or take 0.5."
