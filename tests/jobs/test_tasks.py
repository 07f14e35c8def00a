"""Background tasks: in the process, or in the database for a worker."""

from datetime import timedelta
import threading

from django.core.management import CommandError, call_command
from django.db import InterfaceError, OperationalError, ProgrammingError
from django.utils import timezone
from django_tasks.base import TaskResultStatus
from django_tasks_db.management.commands import db_worker
from django_tasks_db.models import DBTaskResult
import pytest

from copilot_admin.jobs import background, long_statements, tasks
from copilot_admin.jobs.background import BACKGROUND
from copilot_admin.jobs.deletion import mark
from copilot_admin.jobs.removals import begin
from copilot_admin.management.commands import worker
from copilot_admin.models import Action, AuditEntry, Cause, Copilot, Removal, RemovalState
from copilot_admin.privacy.scopes import PrivacyScope
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.storage.writer import WRITER
from tests.factories import make_copilot, make_published
from tests.polling import HANGS_SECONDS

IN_DATABASE = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_worker_does_what_waits_in_the_database(settings):
    settings.TASKS, settings.BACKGROUND = IN_DATABASE, "database"
    copilot = make_published()
    tasks.delete_in_background([copilot.pk])
    assert DBTaskResult.objects.ready().count() == 1
    assert Copilot.objects.get().is_being_deleted
    call_command("worker", batch=True, interval=0, startup_delay=False, verbosity=0)
    assert not Copilot.objects.exists()
    assert DBTaskResult.objects.successful().count() == DBTaskResult.objects.count() == 2


@pytest.fixture
def worker_loop(settings, monkeypatch):
    """What happens in a worker, one after the other: an error that its loop ends with, or its end."""
    settings.TASKS, settings.BACKGROUND = IN_DATABASE, "database"
    happens: list[Exception | None] = []
    slept: list[float] = []

    def handle(self: db_worker.Command, **options: object) -> None:
        if error := happens.pop(0):
            raise error

    monkeypatch.setattr(db_worker.Command, "handle", handle)
    monkeypatch.setattr(worker.time, "sleep", slept.append)
    monkeypatch.setattr(worker.connections, "close_all", lambda: slept.append(0))
    return happens, slept


def test_a_worker_waits_while_the_database_is_away(worker_loop, caplog):
    happens, slept = worker_loop
    happens += [OperationalError(), InterfaceError(), None]
    call_command("worker")
    assert (happens, slept) == ([], [0, 5, 0, 5])
    assert caplog.messages == [
        "The database is away (OperationalError): tried again in 5 s.",
        "The database is away (InterfaceError): tried again in 5 s.",
    ]


@pytest.mark.parametrize(
    ("error", "batch"), [(OperationalError(), True), (ProgrammingError(), False)]
)
def test_a_worker_ends_with_what_waiting_does_not_mend(worker_loop, error, batch):
    happens, slept = worker_loop
    happens.append(error)
    with pytest.raises(type(error)):
        call_command("worker", batch=batch)
    assert slept == []


def test_a_worker_refuses_where_servers_do_their_tasks_themselves():
    with pytest.raises(CommandError, match="Set COPILOT_TASKS=database"):
        call_command("worker")


def test_a_stopped_deletion_is_taken_up_unless_it_waits_for_a_worker(settings):
    settings.TASKS = IN_DATABASE
    copilot = make_published()
    mark([copilot.pk])
    for _ in range(2):
        Copilot.objects.update(deletion_moved_at=timezone.now() - timedelta(minutes=1))
        tasks.resume_deletions()
    assert DBTaskResult.objects.ready().count() == 1


def test_a_process_takes_up_what_another_one_left():
    copilot = make_published()
    mark([copilot.pk])
    Copilot.objects.update(deletion_moved_at=None)
    WRITER.submit(tasks.resume_deletions).result(HANGS_SECONDS)
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    assert not Copilot.objects.exists()


def test_a_process_that_stops_leaves_the_rest_for_the_next(monkeypatch):
    copilot = make_published()
    mark([copilot.pk])
    monkeypatch.setattr(tasks, "delete_batch", lambda pk: tasks.DeletionStep.MOVED)
    tasks.delete_copilot.enqueue(copilot.pk)
    assert background.stop(timeout=HANGS_SECONDS)
    assert Copilot.objects.exists()
    assert background.pause(0) is False
    background.start()
    assert background.pause(0) is True


def test_the_trail_says_once_that_a_copilot_is_gone_whatever_dies_then(monkeypatch, caplog):
    copilot = make_published()
    pk = copilot.pk
    mark([pk])

    def dies() -> None:
        raise KeyError

    with monkeypatch.context() as patch:
        patch.setattr(tasks, "sweep_images", dies)
        tasks.delete_copilot.enqueue(pk)
        assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    tasks.delete_copilot.enqueue(pk)  # another process had taken it up, too
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    ended = AuditEntry.objects.filter(action=Action.DELETION_ENDED)
    assert list(ended.values_list("subject_id", flat=True)) == [str(pk)]


def test_a_long_task_gives_way_to_others_and_goes_on(monkeypatch):
    steps = [tasks.DeletionStep.MOVED, tasks.DeletionStep.MOVED, tasks.DeletionStep.GONE]
    monkeypatch.setattr(tasks, "delete_batch", lambda pk: steps.pop(0))
    monkeypatch.setattr(tasks, "TURN_SECONDS", 0)
    tasks.delete_copilot.enqueue(1)
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    assert steps == []


@pytest.fixture
def merged(monkeypatch):
    """What is merged of a search index that takes five calls: whether each call began it anew."""
    begun: list[bool] = []

    def merge(*, first: bool) -> bool:
        begun.append(first)
        return begun[::-1].index(True) >= 4

    monkeypatch.setattr(tasks, "merge_search_index", merge)
    return begun


def test_an_index_larger_than_a_turn_merges_is_begun_once_and_merged_to_the_end(
    merged, monkeypatch
):
    monkeypatch.setattr(tasks, "TURN_SECONDS", 0)
    removal = begin(PrivacyScope(principal="key:7"))
    tasks.remove.enqueue(removal.pk)
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    removal.refresh_from_db()
    assert (removal.state, merged) == (RemovalState.DONE, [True] + [False] * 4)


def test_a_log_that_somebody_reads_has_no_index_merged_anew(merged, monkeypatch):
    empty = iter((False, True))
    monkeypatch.setattr(tasks, "empty_log", lambda: next(empty))
    removal = begin(PrivacyScope(principal="key:7"))
    for state in (RemovalState.SCRUB, RemovalState.DONE):
        tasks.remove.enqueue(removal.pk)
        assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
        removal.refresh_from_db()
        assert removal.state == state
    assert merged.count(True) == 1


@pytest.mark.parametrize(
    ("deleted", "times"), [(({}, {}), 0), (({"Turn": 1}, {}), 1), (({"Turn": 1}, {"Turn": 2}), 1)]
)
def test_a_nights_prunings_merge_the_index_once_if_something_was_deleted(merged, deleted, times):
    """Each merged all of it, also those that found nothing whose time was up."""
    copilots = [make_copilot(slug=f"c{number}").pk for number in range(len(deleted))]
    removals = [
        Removal.objects.create(
            cause=Cause.RETENTION,
            copilot=copilot,
            day=timezone.localdate(),
            idle_before=timezone.now() - timedelta(days=9),
            counts=counts,
            moved_at=timezone.now(),
        )
        for copilot, counts in zip(copilots, deleted, strict=True)
    ]
    for removal in removals:
        tasks.remove.enqueue(removal.pk)
        assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    assert merged.count(True) == times
    assert set(Removal.objects.values_list("state", flat=True)) == {RemovalState.DONE}


def test_who_clears_files_for_long_says_that_he_is_at_work(monkeypatch):
    """After thirty seconds other processes began the same VACUUM."""
    monkeypatch.setattr(long_statements, "HEARTBEAT_SECONDS", 0.001)
    claimed, renewed = [], threading.Event()

    def claim(pk: int) -> None:
        claimed.append(pk)
        renewed.set()

    monkeypatch.setattr(tasks.removals, "claim", claim)
    monkeypatch.setattr(tasks, "vacuum", lambda: renewed.wait(HANGS_SECONDS))
    removal = begin(PrivacyScope(principal="key:7"))
    tasks.remove.enqueue(removal.pk)
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    assert set(claimed) == {removal.pk}
    removal.refresh_from_db()
    assert removal.state == RemovalState.DONE


def test_a_claim_that_cannot_be_renewed_is_tried_again(monkeypatch):
    monkeypatch.setattr(long_statements, "HEARTBEAT_SECONDS", 0.001)
    tries, renewed = [], threading.Event()

    def claim() -> None:
        tries.append(1)
        if len(tries) == 1:
            raise OperationalError("away")
        renewed.set()

    with long_statements.kept_claimed(claim):
        assert renewed.wait(HANGS_SECONDS)


def test_a_sweep_goes_on_where_its_turn_ended(monkeypatch):
    seen = []

    def batch(sweep):
        seen.append(sweep.after)
        return tasks.Sweep(after="b", is_done=len(seen) == 3)

    monkeypatch.setattr(tasks, "sweep_batch", batch)
    monkeypatch.setattr(tasks, "TURN_SECONDS", 0)
    tasks.sweep_blobs.enqueue()
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    assert seen == ["", "b", "b"]


def test_a_database_that_fails_ends_the_task_for_now(monkeypatch, caplog):
    def broken(pk):
        raise DatabaseUnavailable

    monkeypatch.setattr(tasks, "delete_batch", broken)
    tasks.delete_copilot.enqueue(1)
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    assert "background work stops for now: DatabaseUnavailable" in caplog.text


def test_a_task_that_breaks_is_logged(monkeypatch, caplog):
    def broken(pk):
        raise KeyError("x")

    monkeypatch.setattr(tasks, "delete_batch", broken)
    tasks.delete_copilot.enqueue(1)
    BACKGROUND.submit(int).result(HANGS_SECONDS)  # after the first one was logged
    assert "a background task failed" in caplog.text


def test_a_task_whose_worker_was_killed_is_told_as_lost_and_one_that_runs_is_not(caplog):
    """It was said to be running for ever."""
    now = timezone.now()
    for age in (tasks.LOST_AFTER + timedelta(seconds=1), tasks.LOST_AFTER - timedelta(minutes=1)):
        DBTaskResult.objects.create(
            status=TaskResultStatus.RUNNING,
            started_at=now - age,
            args_kwargs={"args": [], "kwargs": {}},
            task_path="copilot_admin.jobs.tasks.remove",
            run_after=now,
            backend_name="default",
        )
    tasks.end_lost_tasks()
    rows = DBTaskResult.objects.order_by("started_at")
    told = ("status", "exception_class_path")
    assert list(rows.values_list(*told)) == [
        ("FAILED", "copilot_admin.jobs.tasks.WorkerLost"),
        ("RUNNING", ""),
    ]
    assert caplog.messages == ["tasks of workers that were killed: 1"]
    caplog.clear()
    tasks.end_lost_tasks()
    assert caplog.messages == []
