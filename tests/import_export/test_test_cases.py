"""Test cases in copilot files: whole or not at all, and no part of a version."""

from typing import Any

import pytest

from copilot_admin.import_export.changes import Difference, Effect
from copilot_admin.import_export.errors import BadCopilotFile
from copilot_admin.import_export.exporting import export_file
from copilot_admin.import_export.formats import as_json, write_yaml
from copilot_admin.import_export.importing import import_file
from copilot_admin.models import Copilot, EvaluationResult, TestCase
from tests.factories import make_case, make_copilot, make_result

pytestmark = [pytest.mark.database, pytest.mark.django_db]
QUESTIONS: list[dict[str, Any]] = [
    {
        "question": "What was the close?",
        "expect": {"number": 106, "tolerance": 0.5},
        "widgets": [{"id": "prices", "rows": [{"day": "Mo", "close": 106.0}]}],
    },
    {
        "question": "Hello",
        "expect": [{"lacks": "sorry"}, {"contains": "Hi"}],
        "options": {"deep": True},
    },
    {"question": "And?"},
]


def file_with(questions: Any, **changes: Any) -> bytes:
    copilot = {"slug": "a", "name": "A", "provider": "P", "model": "m", **changes}
    if questions is not None:
        copilot["questions"] = questions
    providers = [{"name": "P", "kind": "demo"}]
    return as_json({"format": 1, "providers": providers, "copilots": [copilot]}).encode()


def taken(questions: Any, *, dry_run: bool = False, **changes: Any) -> Any:
    file = file_with(questions, **changes)
    return import_file(file, default_access="open", dry_run=dry_run)[-1]


def refused(questions: Any) -> str:
    with pytest.raises(BadCopilotFile) as error:
        taken(questions)
    return error.value.public


def test_they_come_out_as_they_went_in_as_yaml_too():
    assert taken(QUESTIONS).effect is Effect.CREATED
    exported = export_file(["a"])
    assert exported["copilots"][0]["questions"] == QUESTIONS
    change = import_file(write_yaml(exported).encode(), default_access="open")[-1]
    assert (change.effect, change.differences) == (Effect.UNCHANGED, ())


def test_a_change_is_told_and_a_dry_run_makes_none():
    taken(QUESTIONS)
    change = taken(QUESTIONS[:1], dry_run=True)
    assert change.effect is Effect.CHANGED
    assert change.differences == (Difference("questions", QUESTIONS, QUESTIONS[:1]),)
    assert TestCase.objects.count() == 3


def test_one_that_stays_as_it_is_keeps_its_answers_wherever_it_stands():
    copilot = make_copilot(slug="a")
    kept = make_case(copilot, "And?")
    make_result(kept)
    make_result(make_case(copilot, "Gone?"))
    taken(QUESTIONS)
    rows = list(TestCase.objects.filter(copilot=copilot))
    assert [row.question for row in rows] == ["What was the close?", "Hello", "And?"]
    assert rows[2].pk == kept.pk
    assert EvaluationResult.objects.get().case == kept


def test_a_file_without_the_key_leaves_them_and_an_empty_list_takes_them_away():
    taken(QUESTIONS)
    taken(None, description="New")
    assert TestCase.objects.count() == 3
    taken([])
    assert TestCase.objects.count() == 0
    assert "questions" not in export_file(["a"])["copilots"][0]


def test_a_copy_goes_with_the_conversation_that_it_was_made_from():
    """What was exported here comes back as another copilot, or with an edited expectation."""
    taken([QUESTIONS[2], QUESTIONS[1]])
    TestCase.objects.filter(question="And?").update(origin=7)
    taken([QUESTIONS[2] | {"expect": {"contains": "x"}}, QUESTIONS[1]])
    taken([QUESTIONS[2], QUESTIONS[0]], slug="b", name="B")
    rows = TestCase.objects.order_by("copilot", "position")
    assert list(rows.values_list("copilot__slug", "question", "origin")) == [
        ("a", "And?", 7),
        ("a", "Hello", None),
        ("b", "And?", 7),
        ("b", "What was the close?", None),
    ]


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ({"expect": {"contain": "a"}}, "copilots[0].questions[1].expect[0].contain"),
        ({"expect": {"tolerance": 1}}, "copilots[0].questions[1].expect[0]"),
        ({"expect": {"cites": "x"}}, "copilots[0].questions[1]"),
        ({"widgets": [{"id": "w", "text": "x" * 5 * 1024 * 1024}]}, "copilots[0].questions[1]"),
    ],
)
def test_an_error_names_its_place_and_nothing_is_imported(question, path):
    assert refused([{"question": "Hello"}, {"question": "What?", **question}]).startswith(path)
    assert not Copilot.objects.exists()


def test_a_copilot_has_a_thousand_test_cases_at_most():
    assert refused([{"question": "What?"}] * 1001).startswith("copilots[0].questions")


def test_one_that_this_release_cannot_read_is_exported_all_the_same():
    copilot = make_copilot()
    make_case(copilot, test_data={"hologram": 1}, expect={"smells": "good"})
    assert export_file([copilot.slug])["copilots"][0]["questions"] == [
        {"question": "What?", "expect": {"smells": "good"}, "hologram": 1}
    ]
