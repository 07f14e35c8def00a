"""Runs in the background: each test case once, resumed, cancelled, within a cost limit."""

from datetime import timedelta
from decimal import Decimal

from django.core.management import call_command
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone
import pytest

from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation import worker
from copilot_admin.evaluation.queue import (
    MAX_CONCURRENT,
    cancel_runs,
    claim_next,
    find_previous_answer,
)
from copilot_admin.evaluation.results import (
    diff_to_previous,
    export_rows,
    needs_attention,
    read_column,
    read_columns,
    read_pass_rates,
)
from copilot_admin.evaluation.targets import make_run
from copilot_admin.evaluation.worker import resume_evaluations, run_here, start_runs
from copilot_admin.jobs import tasks as background_tasks
from copilot_admin.jobs.deletion import delete_batch, mark_for_deletion
from copilot_admin.jobs.tasks import BACKGROUND, BatchResult
from copilot_admin.models import (
    Copilot,
    EvaluationResult,
    EvaluationRun,
    ResultState,
    ResultVerdict,
    RunState,
    TargetKind,
    TestCase,
)
from copilot_admin.runs.tasks import CRASHED
from copilot_admin.storage.writer import WRITER, DatabaseThread, Writer
from tests.agent.scripted import stalled, text
from tests.evaluation.evaluations import evaluate, queue_run, script
from tests.factories import make_case, make_copilot, make_published, make_result
from tests.polling import HANGS_SECONDS, eventually

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
IN_DATABASE = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
LONG_AGO = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _background_is_open() -> None:
    background_tasks.start()


def start(copilot: Copilot, *targets: TargetKind) -> list[EvaluationRun]:
    copilot = Copilot.objects.select_related("provider", "live").get(pk=copilot.pk)
    runs = [make_run(copilot, kind) for kind in targets or (TargetKind.DRAFT,)]
    start_runs(runs, TestCase.objects.filter(copilot=copilot))
    return runs


def idle() -> None:
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)


def lose_worker() -> None:
    EvaluationRun.objects.update(heartbeat_at=timezone.now() - LONG_AGO)
    EvaluationResult.objects.filter(state=ResultState.RUNNING).update(
        heartbeat_at=timezone.now() - LONG_AGO
    )


def states() -> list[str]:
    return list(EvaluationResult.objects.order_by("pk").values_list("state", flat=True))


def test_every_case_runs_once_on_every_target():
    copilot = make_published()
    for number in range(5):
        make_case(copilot, f"Question {number}?", expect={"contains": "question"})
    start(copilot, TargetKind.DRAFT, TargetKind.LIVE)
    idle()
    draft, live = read_columns(copilot)
    assert (draft.run.target, live.run.version_number) == (TargetKind.DRAFT, 1)
    for column in (draft, live):
        assert column.run.state == RunState.DONE and column.run.finished_at
        assert (column.counts.total, column.counts.done, column.counts.outdated) == (5, 5, 0)
    assert all(row["answer"] and row["verdict"] for row in export_rows([draft, live]))
    assert [run.target for run, _percent in read_pass_rates(copilot)] == ["draft", "live"]


def test_a_run_needs_test_cases_and_a_target_that_exists():
    copilot = make_copilot()
    with pytest.raises(ConfigurationError):
        start(copilot)
    for target in (TargetKind.LIVE, TargetKind.VERSION, TargetKind.MODEL):
        with pytest.raises(ConfigurationError):
            make_run(copilot, target, version_number=7)
    assert not EvaluationRun.objects.exists()


def test_no_case_is_claimed_twice_and_only_some_at_a_time():
    copilot = make_copilot()
    cases = [make_case(copilot) for _ in range(MAX_CONCURRENT + 1)]
    queue_run(copilot)
    claimed = [claim_next(copilot.pk) for _ in range(MAX_CONCURRENT)]
    assert [one and one.case for one in claimed] == cases[:MAX_CONCURRENT]
    assert claim_next(copilot.pk) is None
    lose_worker()
    again = claim_next(copilot.pk)
    assert again is not None and again.case == cases[0]


def test_a_copilot_that_is_being_deleted_runs_no_tests():
    copilot = make_copilot()
    make_case(copilot)
    queue_run(copilot)
    mark_for_deletion([copilot.pk])
    assert claim_next(copilot.pk) is None
    step = BatchResult.MORE
    while step is not BatchResult.DONE:
        with transaction.atomic():
            step = delete_batch(copilot.pk)
    assert not TestCase.objects.exists()


def test_cancelling_ends_what_runs_and_keeps_results(monkeypatch):
    monkeypatch.setattr(worker, "HEARTBEAT_SECONDS", 0.01)
    copilot = make_copilot()
    earlier = make_result(make_case(copilot), answer="Before.")
    provider = script(monkeypatch, stalled("It "))
    start(copilot)
    assert eventually(lambda: provider.open == 1)
    assert cancel_runs(EvaluationRun.objects.filter(copilot=copilot)) == 1
    idle()
    assert provider.open == 0
    column = read_column(copilot, TargetKind.DRAFT)
    assert column is not None and column.run.state == RunState.CANCELLED
    assert column.results[earlier.case_id] == earlier  # unfinished results don't hide it
    assert cancel_runs(EvaluationRun.objects.filter(copilot=copilot)) == 0


def test_the_cost_limit_stops_a_run_honestly(monkeypatch):
    copilot = make_copilot()
    cases = [make_case(copilot, f"{number}?") for number in range(3)]
    run = queue_run(copilot, cost_limit=Decimal("0.5"))
    claim = claim_next(copilot.pk)
    assert claim is not None
    EvaluationResult.objects.filter(case=cases[0]).update(
        state=ResultState.DONE, verdict=ResultVerdict.PASSED, cost=Decimal("0.5")
    )
    run_here(copilot.pk)
    column = read_column(copilot, TargetKind.DRAFT)
    assert column is not None and column.run == run
    assert column.run.state == RunState.COST_LIMIT
    assert (column.counts.passed, column.counts.total, column.counts.pending) == (1, 3, 0)
    assert states() == [ResultState.DONE, ResultState.WAITING, ResultState.WAITING]


def test_a_lost_worker_is_replaced():
    copilot = make_copilot()
    make_case(copilot)
    queue_run(copilot)
    claim_next(copilot.pk)
    WRITER.submit(resume_evaluations).result(HANGS_SECONDS)
    idle()
    assert states() == [ResultState.RUNNING]
    lose_worker()
    WRITER.submit(resume_evaluations).result(HANGS_SECONDS)
    idle()
    assert states() == [ResultState.DONE]


def test_a_worker_process_runs_until_nothing_waits(settings):
    settings.TASKS, settings.BACKGROUND = IN_DATABASE, "database"
    copilot = make_published()
    for _ in range(MAX_CONCURRENT):
        make_case(copilot)
    start(copilot, TargetKind.DRAFT, TargetKind.LIVE)
    assert set(states()) == {ResultState.WAITING}
    call_command("worker", batch=True, interval=0, startup_delay=False, verbosity=0)
    assert set(states()) == {ResultState.DONE}


def test_a_crash_is_an_error_of_one_case(monkeypatch, caplog):
    copilot = make_copilot()
    broken, whole = make_case(copilot, "breaks"), make_case(copilot, "works")
    judge = worker.judge_answer

    async def judge_or_break(answer, *rest):
        if "breaks" in answer.text:
            raise KeyError
        return await judge(answer, *rest)

    monkeypatch.setattr(worker, "judge_answer", judge_or_break)
    start(copilot)
    idle()
    assert broken.results.get().error == CRASHED
    assert whole.results.get().verdict == ResultVerdict.PASSED
    assert "evaluations of copilot" in caplog.text


@pytest.mark.parametrize("failing", ["prepare_target", "store_result", "send_heartbeat"])
def test_after_a_database_error_a_case_is_retried(monkeypatch, failing):
    monkeypatch.setattr(worker, "BACKOFF_SECONDS", (0.0,) * 3)
    monkeypatch.setattr(worker, "HEARTBEAT_SECONDS", 0.001)
    copilot = make_copilot()
    for _ in range(2):
        make_case(copilot)
    whole, failures = getattr(worker, failing), iter((OperationalError, InterfaceError))

    def failing_twice(*arguments):
        if (error := next(failures, None)) is not None:
            raise error("locked")
        return whole(*arguments)

    monkeypatch.setattr(worker, failing, failing_twice)
    monkeypatch.setattr(Writer, "submit", DatabaseThread.submit)  # it retries by itself as well
    start(copilot)
    idle()
    verdicts = EvaluationResult.objects.values_list("verdict", flat=True)
    assert set(verdicts) == {ResultVerdict.PASSED}


def test_an_answer_is_compared_with_the_one_before_on_the_same_target(monkeypatch):
    case = make_case(make_published(), recorded_answer="Recorded.")
    script(monkeypatch, *map(text, ("Recorded.", "New.", "New.", "New.")))
    first, second, third = evaluate(case), evaluate(case), evaluate(case)
    assert (first.is_changed, second.is_changed, third.is_changed) == (False, True, False)
    assert find_previous_answer(second.run, case) == "Recorded."
    assert [part.text for part in diff_to_previous(second)] == ["Recorded", "New", "."]
    live = evaluate(case, TargetKind.LIVE)
    assert live.is_changed is True  # from the recorded answer
    column = read_column(case.copilot, TargetKind.LIVE)
    assert column is not None and needs_attention(column, case.pk)


def test_a_result_is_outdated_after_a_change_of_draft_or_case():
    copilot = make_copilot()
    case = make_case(copilot)
    make_result(case)

    def outdated() -> int:
        column = read_column(Copilot.objects.get(pk=copilot.pk), TargetKind.DRAFT)
        assert column is not None
        return column.counts.outdated

    assert outdated() == 0
    Copilot.objects.update(system_prompt="Other")
    assert outdated() == 1
    Copilot.objects.update(system_prompt=copilot.system_prompt)
    assert outdated() == 0
    case.save()
    assert outdated() == 1
