"""`manage.py replay` asks saved questions of a target, says what changed, and ends accordingly."""

from decimal import Decimal
import json
from typing import Any

from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone
import pytest

from copilot_admin.errors import ProviderRefused
from copilot_admin.evaluation.replay_decisions import ReplayWish
from copilot_admin.evaluation.replay_queue import grant
from copilot_admin.jobs.deletion import delete_batch, mark_for_deletion
from copilot_admin.jobs.tasks import BatchResult
from copilot_admin.management.commands import replay as command
from copilot_admin.models import Copilot, RecordedAnswer, Replay, ReplayState, SavedQuestion
from tests.agent.scripted import broken, text
from tests.evaluation.questions import script
from tests.factories import make_copilot, make_provider, make_published, make_saved

pytestmark = pytest.mark.django_db(transaction=True)


def replay(copilot: Copilot, *options: str) -> Any:
    with pytest.raises(SystemExit) as ended:
        call_command("replay", copilot.slug, *options)
    return ended.value.code


def asked_before(
    copilot: Copilot, said: str, question: str = "What?", **more: Any
) -> SavedQuestion:
    saved = make_saved(copilot, question, **more)
    RecordedAnswer.objects.create(
        question=saved, conversation=1, turn=saved.pk, text=said, answered_at=timezone.now()
    )
    return saved


def test_nothing_changed_ends_with_0(capsys, monkeypatch):
    script(monkeypatch, text("Same."), text("Same."))  # whichever is asked first
    copilot = make_copilot()
    asked_before(copilot, "Same.", "How are\nyou?")
    make_saved(copilot, "x" * 200)
    assert replay(copilot) == 0
    assert capsys.readouterr().out.splitlines() == [
        "same: How are you?",
        f"new: {'x' * 99}…",
        "The draft as it stood: 0 of 1 changed, cost unknown",
        "$0.00 so far.",
    ]


def test_one_that_changed_ends_with_1_and_programs_are_told_all(capsys, monkeypatch):
    script(monkeypatch, text("Now."))
    copilot = make_published()
    asked_before(copilot, "Then.", label="bad ones")
    RecordedAnswer.objects.update(cost=Decimal("0.0000001"))
    make_saved(copilot, "Not me?")
    assert replay(copilot, "--version", "1", "--questions", "bad ones", "--json") == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["asked"], said["state"], said["total"], said["changed"]) == (
        "Version 1",
        "done",
        1,
        1,
    )
    assert [one["changed"] for one in said["questions"]] == [True]
    assert (float(said["cost"]), said["answers_of_unknown_cost"]) == (0, 0)
    costs = [
        said["cost"],
        *(one[of] for one in said["questions"] for of in ("cost", "cost_before")),
    ]
    assert float(costs[2]) == 0.0000001
    assert not any("E" in cost for cost in costs), costs


@pytest.mark.database
def test_some_are_chosen_by_their_ids_and_asked_of_another_model(monkeypatch):
    provider = script(monkeypatch, text("Now."))
    copilot, other = make_copilot(), make_provider()
    saved = asked_before(copilot, "Then.")
    make_saved(copilot)
    options = ("--model", "big", "--provider", other.name, "--questions", str(saved.pk))
    assert replay(copilot, *options) == 1
    assert [call.model for call in provider.calls] == ["big"]


def test_one_that_failed_ends_with_2(capsys, monkeypatch):
    script(monkeypatch, broken(ProviderRefused("No.")))
    copilot = make_copilot()
    asked_before(copilot, "Then.")
    assert replay(copilot) == 2
    assert capsys.readouterr().out.startswith("failed: What? (No.)\n")


def test_a_bound_of_nothing_asks_nothing_and_ends_with_2(capsys):
    copilot = make_copilot()
    make_saved(copilot)
    assert replay(copilot, "--most-cost", "0") == 2
    out = capsys.readouterr().out
    assert out.startswith("not asked: What?\n")
    assert "It stopped at its bound of $0.00." in out


@pytest.mark.database
def test_an_interrupted_replay_is_paused(capsys, monkeypatch):
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "replay_here", interrupted)
    copilot = make_copilot()
    make_saved(copilot)
    assert replay(copilot) == 2
    assert Replay.objects.get().state == ReplayState.PAUSED
    assert "Paused" in capsys.readouterr().err


def delete_wholly(replay: Replay) -> None:
    mark_for_deletion([replay.copilot_id])
    step = BatchResult.MORE
    while step is BatchResult.MORE:
        with transaction.atomic():
            step = delete_batch(replay.copilot_id)


@pytest.mark.database
@pytest.mark.parametrize(
    ("meanwhile", "sentence"),
    [
        (delete_wholly, "The copilot was deleted meanwhile."),
        (
            lambda replay: mark_for_deletion([replay.copilot_id]),
            "The copilot was deleted meanwhile.",
        ),
        (lambda replay: replay.delete(), "The replay was deleted meanwhile."),
    ],
)
def test_a_deletion_during_the_replay_is_reported_in_one_line(monkeypatch, meanwhile, sentence):
    copilot = make_copilot()
    make_saved(copilot)
    monkeypatch.setattr(command, "replay_here", lambda pk: meanwhile(Replay.objects.get(pk=pk)))
    with pytest.raises(CommandError) as error:
        call_command("replay", copilot.slug)
    assert (str(error.value), error.value.returncode) == (sentence, 2)


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (ReplayWish.PAUSE, "Paused. Continue it in the admin.\n"),
        (ReplayWish.STOP, "It was stopped in the admin.\n"),
        (None, "No question could be asked now. A server continues.\n"),
    ],
)
def test_an_early_end_has_a_reason(capsys, monkeypatch, wish, said):
    copilot = make_copilot()
    make_saved(copilot)
    monkeypatch.setattr(command, "replay_here", lambda pk: wish and grant(pk, wish))
    assert replay(copilot) == 2
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--questions", "nobody"], "no such question"),
        (["--version", "9"], "no version 9"),
        (["--provider", "x"], "A provider needs its --model."),
        (["--model", "x", "--provider", "nobody"], "no provider 'nobody'"),
        (["--most-cost", "much"], "not an amount of US dollars"),
        (["--most-cost", "-1"], "not an amount of US dollars"),
        (["--most-cost", "nan"], "not an amount of US dollars"),
        (["--most-cost", "1e12"], "not an amount of US dollars"),
        (["--most-cost", "1e999"], "not an amount of US dollars"),
        (["--questions", "999999"], "has no saved question 999999."),
    ],
)
def test_what_cannot_be_done_is_said_and_ends_with_2(options, words):
    copilot = make_copilot()
    make_saved(copilot)
    with pytest.raises(CommandError, match=words) as error:
        call_command("replay", copilot.slug, *options)
    assert error.value.returncode == 2
    with pytest.raises(CommandError, match="no copilot") as error:
        call_command("replay", "nobody", *options)
    assert error.value.returncode == 2


def test_a_copilot_that_is_being_deleted_is_none():
    copilot = make_copilot()
    make_saved(copilot)
    mark_for_deletion([copilot.pk])
    with pytest.raises(CommandError, match="There is no copilot"):
        call_command("replay", copilot.slug)
    assert not Replay.objects.exists()
