"""Saved questions are asked in the background: each once, taken up again, stopped at will."""

from datetime import timedelta

from django.core.management import call_command
from django.db import InterfaceError, OperationalError
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
import pytest

from copilot_admin.evaluation import question_asker, question_runs
from copilot_admin.evaluation.expectations import AnswerVerdict
from copilot_admin.evaluation.judging import JudgingOutcome
from copilot_admin.evaluation.question_queue import (
    AskingProgress,
    claim,
    outcome_of,
    progress_of,
    queue,
    stop,
)
from copilot_admin.evaluation.question_tasks import ask_in_background, resume_questions
from copilot_admin.jobs import tasks as background_tasks
from copilot_admin.jobs.deletion import mark_for_deletion
from copilot_admin.jobs.tasks import BACKGROUND
from copilot_admin.models import (
    AnswerState,
    Copilot,
    Judgement,
    SavedAnswer,
    SavedQuestion,
    Side,
)
from copilot_admin.runs.open_run import start_draining, stop_draining
from copilot_admin.runs.tasks import CRASHED
from copilot_admin.storage.writer import WRITER, DatabaseThread, Writer
from tests.agent.scripted import stalled, text
from tests.evaluation.questions import script
from tests.factories import make_copilot, make_published, make_saved, make_user
from tests.polling import HANGS_SECONDS, eventually

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
IN_DATABASE = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
BOTH = (Side.DRAFT, Side.LIVE)


@pytest.fixture(autouse=True)
def _background_is_open() -> None:
    background_tasks.start()


def ask(copilot: Copilot, sides: tuple[Side, ...] = (Side.DRAFT,)) -> int:
    questions = list(SavedQuestion.objects.filter(copilot=copilot))
    return ask_in_background(copilot.pk, questions, sides, user_id=make_user().pk)


def idle() -> None:
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)


def test_every_question_is_asked_of_both_sides_and_the_answers_are_kept():
    copilot = make_published()
    for number in range(5):
        make_saved(copilot, f"Question {number}?", expectation={"contains": "question"})
    assert ask(copilot, BOTH) == 10
    idle()
    rows = SavedAnswer.objects.filter(question__copilot=copilot)
    assert progress_of(copilot.pk) == AskingProgress(total=10, unfinished=0)
    assert progress_of(copilot.pk).done == 10
    assert {row.side: row.version_number for row in rows} == {"draft": 0, "live": 1}
    assert all(row.text and row.trace_id and row.answered_at for row in rows)
    assert {row.judgement for row in rows} <= {Judgement.AS_EXPECTED, Judgement.NOT_AS_EXPECTED}


def test_an_answer_stays_until_the_next_one_is_whole(monkeypatch):
    copilot = make_copilot()
    saved = make_saved(copilot)
    script(monkeypatch, text("First."))
    ask(copilot)
    idle()
    queue([saved], [Side.DRAFT], user_id=None)
    waiting = SavedAnswer.objects.get()
    assert (waiting.state, waiting.text) == (AnswerState.WAITING, "First.")
    stop(copilot.pk)
    stopped = SavedAnswer.objects.get()
    assert (stopped.state, stopped.text) == (AnswerState.DONE, "First.")


def test_what_waits_already_is_not_queued_twice_and_nobody_claims_it_twice():
    copilot = make_copilot()
    saved = [make_saved(copilot), make_saved(copilot)]
    assert queue(saved, BOTH, user_id=None) == 4
    assert queue(saved, BOTH, user_id=None) == 0
    claimed = [claim(copilot.pk, at_once=9) for _ in range(4)]
    assert [one and (one.question, one.side) for one in claimed] == [
        (question, side) for question in saved for side in BOTH
    ]
    assert claim(copilot.pk, at_once=9) is None


def test_stopping_ends_those_that_are_being_asked(monkeypatch):
    monkeypatch.setattr(question_asker, "LOOK_SECONDS", 0.01)
    copilot = make_copilot()
    make_saved(copilot)
    provider = script(monkeypatch, stalled("It "))
    ask(copilot)
    assert eventually(lambda: provider.open == 1)
    stop(copilot.pk)
    idle()
    assert provider.open == 0
    assert not SavedAnswer.objects.exists()


def test_what_another_process_left_is_taken_up(monkeypatch):
    copilot = make_copilot()
    saved = make_saved(copilot)
    queue([saved], BOTH, user_id=None)
    claim(copilot.pk, at_once=1)
    WRITER.submit(resume_questions).result(HANGS_SECONDS)
    idle()
    assert progress_of(copilot.pk).unfinished == 2
    SavedAnswer.objects.update(claimed_at=timezone.now() - timedelta(minutes=1))
    WRITER.submit(resume_questions).result(HANGS_SECONDS)
    idle()
    assert progress_of(copilot.pk).unfinished == 0


def test_what_waits_for_a_worker_is_not_given_to_another(settings):
    settings.TASKS = IN_DATABASE
    copilot = make_copilot()
    queue([make_saved(copilot)], [Side.DRAFT], user_id=None)
    for _ in range(2):
        SavedAnswer.objects.update(claimed_at=timezone.now() - timedelta(minutes=1))
        resume_questions()
    assert DBTaskResult.objects.ready().count() == 1


def test_a_worker_asks_until_nothing_waits(settings):
    settings.TASKS, settings.BACKGROUND = IN_DATABASE, "database"
    copilot = make_published()
    for _ in range(question_asker.AT_ONCE):
        make_saved(copilot)
    assert ask(copilot, BOTH) == 6
    assert progress_of(copilot.pk).unfinished == 6
    call_command("worker", batch=True, interval=0, startup_delay=False, verbosity=0)
    assert progress_of(copilot.pk).unfinished == 0


def test_while_the_server_drains_questions_wait_for_the_next_one():
    copilot = make_copilot()
    make_saved(copilot)
    start_draining()
    try:
        ask(copilot)
        idle()
    finally:
        stop_draining()
    row = SavedAnswer.objects.get()
    assert (row.state, row.answered_at) == (AnswerState.WAITING, None)


def test_what_breaks_is_said_of_its_question_alone(monkeypatch, caplog):
    copilot = make_copilot()
    make_saved(copilot, "breaks")
    make_saved(copilot, "works")

    async def judge(asked, expected, answerer):
        if "breaks" in asked.answer.text:
            raise KeyError
        return JudgingOutcome(AnswerVerdict(Judgement.ANSWERED, ""))

    monkeypatch.setattr(question_runs, "judge", judge)
    ask(copilot)
    idle()
    rows = {row.question.question: row for row in SavedAnswer.objects.select_related("question")}
    assert (rows["breaks"].judgement, rows["breaks"].reason) == (Judgement.UNDECIDED, CRASHED)
    assert rows["works"].judgement == Judgement.ANSWERED
    assert "saved question" in caplog.text


def test_a_copilot_on_its_way_out_is_not_asked():
    copilot = make_copilot()
    queue([make_saved(copilot)], [Side.DRAFT], user_id=None)
    mark_for_deletion([copilot.pk])
    assert claim(copilot.pk, at_once=1) is None


def test_no_more_of_a_copilot_are_claimed_at_once_than_is_said_unless_they_are_left():
    copilot = make_copilot()
    queue([make_saved(copilot) for _ in range(4)], [Side.DRAFT], user_id=None)
    assert [claim(copilot.pk, at_once=2) is None for _ in range(3)] == [False, False, True]
    SavedAnswer.objects.update(claimed_at=timezone.now() - timedelta(minutes=1))
    assert claim(copilot.pk, at_once=2) is not None


@pytest.mark.parametrize("failing", ["target_of", "keep"])
def test_after_a_hiccup_it_is_asked_again_by_itself(monkeypatch, failing):
    monkeypatch.setattr(question_asker, "PAUSES", (0.0,) * 3)
    copilot = make_copilot()
    for _ in range(2):
        make_saved(copilot)
    whole, failures = getattr(question_asker, failing), iter((OperationalError, InterfaceError))

    def failing_twice(*arguments):
        if (error := next(failures, None)) is not None:
            raise error("locked")
        return whole(*arguments)

    monkeypatch.setattr(question_asker, failing, failing_twice)
    monkeypatch.setattr(Writer, "submit", DatabaseThread.submit)  # it tries by itself as well
    ask(copilot)
    idle()
    assert progress_of(copilot.pk) == AskingProgress(total=2, unfinished=0)
    assert set(SavedAnswer.objects.values_list("judgement", flat=True)) == {Judgement.ANSWERED}


def test_what_fails_for_long_is_left_to_others(monkeypatch, caplog):
    monkeypatch.setattr(question_asker, "PAUSES", (0.0,) * 2)
    copilot = make_copilot()
    make_saved(copilot)
    tries = []

    def failing(*arguments):
        tries.append(arguments)
        raise OperationalError("locked")

    monkeypatch.setattr(question_asker, "target_of", failing)
    ask(copilot)
    idle()
    assert SavedAnswer.objects.get().state == AnswerState.WAITING
    assert 3 <= len(tries) <= 3 * question_asker.AT_ONCE
    assert "will be asked again" in caplog.text


def test_what_cannot_even_be_given_back_is_given_back_later(monkeypatch):
    monkeypatch.setattr(question_asker, "PAUSES", (0.0,) * 9)
    copilot = make_copilot()
    make_saved(copilot)
    whole_target, whole_return = question_asker.target_of, question_asker.give_back
    targets, returns = iter([OperationalError]), iter([OperationalError] * 2)

    def failing_once(*arguments):
        if (error := next(targets, None)) is not None:
            raise error("locked")
        return whole_target(*arguments)

    def failing_twice(answer_ids):
        if answer_ids and (error := next(returns, None)) is not None:
            raise error("locked")
        return whole_return(answer_ids)

    monkeypatch.setattr(question_asker, "target_of", failing_once)
    monkeypatch.setattr(question_asker, "give_back", failing_twice)
    monkeypatch.setattr(Writer, "submit", DatabaseThread.submit)
    ask(copilot)
    idle()
    assert progress_of(copilot.pk) == AskingProgress(total=1, unfinished=0)


def test_a_draft_that_breaks_the_asking_is_said_of_its_questions(monkeypatch):
    copilot = make_copilot()
    make_saved(copilot)
    monkeypatch.setattr(question_asker, "target_of", lambda *arguments: {}["nothing"])
    ask(copilot)
    idle()
    row = SavedAnswer.objects.get()
    assert (row.state, row.reason) == (AnswerState.DONE, CRASHED)


def test_signs_of_life_go_on_after_one_failed_and_are_of_one_copilot_alone(monkeypatch):
    monkeypatch.setattr(question_asker, "LOOK_SECONDS", 0.01)
    copilot, other = make_copilot(), make_copilot()
    make_saved(copilot)
    queue([make_saved(other)], [Side.DRAFT], user_id=None)
    long_ago = timezone.now() - timedelta(minutes=1)
    SavedAnswer.objects.update(claimed_at=long_ago)
    whole, failures = question_asker.sign_of_life, iter([OperationalError])

    def failing_once(*arguments):
        if (error := next(failures, None)) is not None:
            raise error("locked")
        return whole(*arguments)

    monkeypatch.setattr(question_asker, "sign_of_life", failing_once)
    provider = script(monkeypatch, stalled("It "))
    ask(copilot)
    assert eventually(lambda: provider.open == 1)
    mine = SavedAnswer.objects.filter(question__copilot=copilot)
    mine.update(claimed_at=long_ago)
    assert eventually(lambda: mine.get().claimed_at > long_ago)
    assert SavedAnswer.objects.get(question__copilot=other).claimed_at == long_ago
    stop(copilot.pk)
    idle()


@pytest.mark.parametrize(
    ("judgements", "outcome"),
    [
        ([], Judgement.UNDECIDED),
        (["answered", "as-expected"], Judgement.AS_EXPECTED),
        (["as-expected", "not-as-expected"], Judgement.NOT_AS_EXPECTED),
        (["not-as-expected", "undecided"], Judgement.UNDECIDED),
    ],
)
def test_the_worst_answer_decides(judgements, outcome):
    assert outcome_of(judgements) == outcome
