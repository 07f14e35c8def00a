"""`manage.py evaluate` runs test cases on a target and ends accordingly."""

from decimal import Decimal
import json
from typing import Any

from django.core.management import CommandError, call_command
import pytest

from copilot_admin.errors import ProviderRefused
from copilot_admin.models import Copilot, EvaluationRun, TargetKind
from tests.agent.scripted import broken, text
from tests.evaluation.evaluations import script
from tests.factories import make_case, make_copilot, make_provider, make_published

pytestmark = pytest.mark.django_db(transaction=True)


def evaluate(copilot: Copilot, *options: str) -> Any:
    with pytest.raises(SystemExit) as ended:
        call_command("evaluate", copilot.slug, *options)
    return ended.value.code


def test_all_passed_is_0(capsys, monkeypatch):
    script(monkeypatch, text("Fine."), text("Fine."))
    copilot = make_copilot()
    make_case(copilot, "How are\nyou?", expect={"lacks": "sorry"})
    make_case(copilot, "x" * 200)
    assert evaluate(copilot) == 0
    first, second, summary = capsys.readouterr().out.splitlines()
    assert first == "passed: How are you?"
    assert second == f"passed: {'x' * 99}…"
    assert "2 of 2 passed" in summary


def test_a_failure_is_1_and_json_has_everything(capsys, monkeypatch):
    script(monkeypatch, text("It is 5."))
    copilot = make_published()
    make_case(copilot, expect={"number": 4}, label="numbers")
    make_case(copilot, "Not me?")
    assert evaluate(copilot, "--live", "--label", "numbers", "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["copilot"], found["state"], found["failed"]) == (copilot.slug, "done", 1)
    (result,) = found["results"]
    assert (result["verdict"], result["answer"]) == ("failed", "It is 5.")
    run = EvaluationRun.objects.get()
    assert (run.target, run.is_partial, run.started_by) == (TargetKind.LIVE, True, None)


@pytest.mark.parametrize(
    ("step", "expect"), [(broken(ProviderRefused("No.")), None), (text("Maybe."), {"judged": "x"})]
)
def test_an_error_or_an_inconclusive_answer_is_2(monkeypatch, step, expect):
    script(monkeypatch, step, text("Perhaps."))
    copilot = make_copilot()
    make_case(copilot, expect=expect)
    assert evaluate(copilot) == 2


def test_versions_models_judge_and_cost_limit_are_chosen():
    copilot = make_published()
    make_case(copilot)
    other = make_provider()
    evaluate(copilot, "--version", "1", "--max-cost", "0.5")
    evaluate(copilot, "--model", "big-9", "--provider", other.name, "--judge", "judge-1")
    model, version = EvaluationRun.objects.all()
    assert (version.version_number, version.cost_limit) == (1, Decimal("0.5"))
    assert (model.provider, model.model) == (other, "big-9")
    assert (model.judge_provider, model.judge_model) == (copilot.provider, "judge-1")


@pytest.mark.parametrize(
    "options",
    [
        ["--version", "9"],
        ["--live"],
        ["--provider", "Gone"],
        ["--model", "m", "--provider", "Gone"],
        ["--max-cost", "much"],
        ["--max-cost", "-1"],
        ["--label", "none"],
    ],
)
def test_what_cannot_be_run_is_refused(options):
    copilot = make_copilot()
    make_case(copilot)
    with pytest.raises(CommandError):
        call_command("evaluate", copilot.slug, *options)
    assert not EvaluationRun.objects.exists()
