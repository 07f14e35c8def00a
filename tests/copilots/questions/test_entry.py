"""A saved question is bounded, whole and free of secrets, wherever it comes from."""

from pydantic import ValidationError
import pytest

from copilot_admin.copilots.questions.entry import MOST_BYTES, QuestionEntry

PRICES = {"id": "prices", "rows": [{"close": 106.0}]}


def sentence(**row: object) -> str:
    with pytest.raises(ValidationError) as refused:
        QuestionEntry.model_validate({"question": "What?", **row})
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
    entry = QuestionEntry.model_validate(row)
    assert entry.row() == row
    assert entry.body() == {key: row[key] for key in row if key not in ("question", "expect")}
    assert QuestionEntry.model_validate({"question": "What?"}).row() == {"question": "What?"}


def test_ten_megabytes_are_refused_in_words():
    assert sentence(widgets=[{"id": "w", "text": "x" * 10 * 1024 * 1024}]) == (
        "has 10.0 MB with all that it brings; 4 MB are the most. Leave out a file or some rows."
    )
    fits = {"id": "w", "text": "x" * (MOST_BYTES - 2000)}
    assert QuestionEntry.model_validate({"question": "What?", "widgets": [fits]}).widgets


def test_a_widget_that_is_gone_cannot_be_cited():
    assert sentence(expect={"cites": "news"}, widgets=[PRICES]) == (
        "shall cite 'news', which it does not bring. Its widgets: prices."
    )
    assert sentence(expect={"cites": "news"}).endswith("Its widgets: none.")


def test_a_widget_stands_once_and_has_one_kind_of_data():
    assert sentence(widgets=[PRICES, PRICES]) == "the widget 'prices' occurs twice. Remove one."
    assert sentence(widgets=[{**PRICES, "text": "x"}]) == (
        "has several kinds of data. Keep one of: rows, text, items."
    )


def test_a_secret_of_a_tool_is_not_kept():
    tool = {"name": "search", "auth_token": "hunter2"}
    entry = QuestionEntry.model_validate({"question": "What?", "tools": [tool]})
    assert "hunter2" not in entry.model_dump_json()


@pytest.mark.parametrize("skill", [{}, {"slug": ""}, {"slug": 1}])
def test_a_skill_without_a_slug_would_not_be_sent_and_is_refused(skill):
    assert sentence(skills=[skill]) == (
        "has a skill without a slug. Give each a slug, by which it is loaded."
    )


@pytest.mark.parametrize(
    "row",
    [
        {"question": " "},
        {"question": "x" * 20_001},
        {"hope": {}},
        {"expect": {"matches": "x"}},
        {"files": [{"id": "a", "name": "a.txt", "content": ""}]},
        {"earlier": [{"role": "tool", "content": ""}]},
        {"options": {"deep": 1}},
    ],
)
def test_what_is_no_question_is_refused(row):
    assert sentence(**row)


def test_a_widget_without_a_uuid_has_the_same_one_every_time():
    one, other = (
        QuestionEntry.model_validate({"question": "?", "widgets": [PRICES]}) for _ in "ab"
    )
    assert one.widgets[0].called == other.widgets[0].called
    assert one.names() == {"prices", one.widgets[0].called}
