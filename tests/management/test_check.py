"""`manage.py copilots check` says of each saved question what became of it, and ends accordingly."""

import json
from typing import Any

from django.core.management import CommandError, call_command
import pytest

from copilot_admin.errors import ConfigurationError, ProviderRefused
from copilot_admin.evaluation import question_check
from copilot_admin.evaluation.question_runs import result_of
from copilot_admin.management.commands import copilots
from copilot_admin.models import Copilot, SavedAnswer
from tests.agent.scripted import broken, text
from tests.evaluation.questions import script
from tests.factories import make_copilot, make_published, make_saved

pytestmark = pytest.mark.django_db(transaction=True)


def check(copilot: Copilot, *options: str) -> Any:
    with pytest.raises(SystemExit) as ended:
        call_command("copilots", "check", copilot.slug, *options)
    return ended.value.code


def test_all_as_expected_ends_with_0_and_a_line_each(capsys):
    copilot = make_copilot()
    make_saved(copilot, "How are\nyou?", expectation={"lacks": "sorry"})
    make_saved(copilot, "x" * 200)
    assert check(copilot) == 0
    assert capsys.readouterr().out.splitlines() == [
        "as-expected: How are you? (The answer lacks these words.)",
        f"answered: {'x' * 99}…",
    ]
    assert not SavedAnswer.objects.exists()


def test_one_that_is_not_ends_with_1(capsys, monkeypatch):
    script(monkeypatch, text("It is 5."))
    copilot = make_copilot()
    make_saved(copilot, expectation={"number": 4})
    assert check(copilot) == 1
    assert capsys.readouterr().out == (
        "not-as-expected: What? (The answer lacks the number. Its numbers: 5.)\n"
    )


def test_one_that_cannot_be_asked_ends_with_2(capsys, monkeypatch):
    script(monkeypatch, broken(ProviderRefused("The key is wrong.")))
    copilot = make_copilot()
    make_saved(copilot)
    assert check(copilot) == 2
    assert capsys.readouterr().out == "undecided: What? (The key is wrong.)\n"


def test_the_live_version_is_asked_on_demand(capsys, monkeypatch):
    script(monkeypatch, text("Live."))
    copilot = make_published()
    make_saved(copilot, expectation={"contains": "live"})
    assert check(copilot, "--live", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    (question,) = told.pop("questions")
    assert told == {"copilot": copilot.slug, "side": "live", "outcome": "as-expected"}
    assert question.pop("ms") >= 0
    assert question == {
        "question": "What?",
        "expect": {"contains": "live"},
        "outcome": "as-expected",
        "reason": "The answer has these words.",
        "answer": "Live.",
        "input_tokens": question["input_tokens"],
        "output_tokens": question["output_tokens"],
    }


def test_without_questions_nothing_was_checked(capsys):
    assert check(make_copilot(slug="bare")) == 2
    assert capsys.readouterr().err == (
        "Copilot 'bare' has no saved questions. Save some to check it.\n"
    )


def test_an_unknown_copilot_could_not_be_checked():
    with pytest.raises(CommandError, match="There is no copilot with the slug 'gone'") as error:
        call_command("copilots", "check", "gone")
    assert error.value.returncode == 2


def test_a_broken_set_up_ends_with_2(monkeypatch):
    def refusing(*_: Any) -> None:
        raise ConfigurationError("The key ring is empty.")

    monkeypatch.setattr(copilots, "check_questions", refusing)
    copilot = make_copilot()
    with pytest.raises(CommandError, match="The key ring is empty") as error:
        call_command("copilots", "check", copilot.slug)
    assert error.value.returncode == 2


def test_one_that_is_not_and_one_that_cannot_be_judged_end_with_2(monkeypatch):
    script(monkeypatch, text("It is 5."), text("It is 5."), text("I cannot say."))
    copilot = make_copilot()
    make_saved(copilot, expectation={"number": 4})
    make_saved(copilot, expectation={"judged": "It is polite."})
    assert check(copilot) == 2


def test_the_number_of_concurrent_questions_is_limited(monkeypatch):
    monkeypatch.setattr(question_check, "AT_ONCE", 2)
    now, most = [0], [0]

    async def counting(*given: Any) -> Any:
        now[0] += 1
        most[0] = max(most[0], now[0])
        try:
            return await result_of(*given)
        finally:
            now[0] -= 1

    monkeypatch.setattr(question_check, "result_of", counting)
    copilot = make_copilot()
    for _ in range(5):
        make_saved(copilot)
    assert check(copilot) == 0
    assert most == [2]
