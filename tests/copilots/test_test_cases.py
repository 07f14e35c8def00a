"""A test case is bounded, whole and free of secrets, wherever it comes from."""

from pydantic import ValidationError
import pytest

from copilot_admin.copilots.test_cases import (
    MAX_BYTES,
    Assertion,
    AssertionKind,
    TestCaseEntry,
    as_row,
    fill_case,
)
from copilot_admin.models import TestCase

PRICES = {"id": "prices", "rows": [{"close": 106.0}]}


def sentence(**row: object) -> str:
    with pytest.raises(ValidationError) as refused:
        TestCaseEntry.model_validate({"question": "What?", **row})
    return refused.value.errors()[0]["msg"]


def test_a_row_holds_what_is_said_and_gives_it_back():
    row = {
        "question": "What was the close?",
        "expect": {"number": 106, "tolerance": 0.5},
        "earlier": [{"role": "human", "content": "Hello"}, {"role": "ai", "content": "Hi"}],
        "widgets": [PRICES, {"id": "news", "place": "extra", "text": "Acme grows."}],
        "files": [{"id": "file-a", "name": "a.txt", "content": "SGk="}],
        "options": {"deep": True, "tone": "brief"},
        "model": "m",
        "timezone": "Europe/Lisbon",
        "tools": [{"name": "search"}],
        "skills": [{"slug": "earnings"}],
        "results": {"manage_navigation_bar": [{"status": "success"}]},
    }
    entry = TestCaseEntry.model_validate(row)
    assert entry.row() == row
    case = TestCase()
    fill_case(case, row)
    assert case.assertions == [row["expect"]]
    assert as_row(case) == row
    assert TestCaseEntry.model_validate({"question": "What?"}).row() == {"question": "What?"}


def test_several_assertions_are_a_list():
    row = {"question": "What?", "expect": [{"number": 1}, {"contains": "dollars"}]}
    assert TestCaseEntry.model_validate(row).row() == row
    assert sentence(expect=[{"number": 1}] * 11)


def test_ten_megabytes_are_refused():
    assert "10.0 MB" in sentence(widgets=[{"id": "w", "text": "x" * 10 * 1024 * 1024}])
    fits = {"id": "w", "text": "x" * (MAX_BYTES - 2000)}
    assert TestCaseEntry.model_validate({"question": "What?", "widgets": [fits]}).widgets


@pytest.mark.parametrize(
    "row",
    [
        {"expect": {"cites": "news"}, "widgets": [PRICES]},
        {"expect": {"cites": "news"}},
        {"widgets": [PRICES, PRICES]},
        {"widgets": [{**PRICES, "text": "x"}]},
        {"skills": [{}]},
        {"skills": [{"slug": ""}]},
        {"question": " "},
        {"question": "x" * 20_001},
        {"hope": {}},
        {"expect": {"matches": "x"}},
        {"files": [{"id": "a", "name": "a.txt", "content": ""}]},
        {"earlier": [{"role": "tool", "content": ""}]},
        {"options": {"deep": 1}},
    ],
)
def test_an_invalid_test_case_is_refused(row):
    assert sentence(**row)


def test_a_secret_of_a_tool_is_not_kept():
    tool = {"name": "search", "auth_token": "hunter2"}
    entry = TestCaseEntry.model_validate({"question": "What?", "tools": [tool]})
    assert "hunter2" not in entry.model_dump_json()


def test_a_widget_without_a_uuid_has_the_same_one_every_time():
    one, other = (
        TestCaseEntry.model_validate({"question": "?", "widgets": [PRICES]}) for _ in "ab"
    )
    assert one.widgets[0].effective_uuid == other.widgets[0].effective_uuid
    assert one.names() == {"prices", one.widgets[0].effective_uuid}


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
