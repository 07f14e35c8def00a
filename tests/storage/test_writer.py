"""The threads of the database: what waits is committed together, and fails alone."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from itertools import pairwise
import threading
from types import SimpleNamespace
from typing import Any

from django.db import (
    DatabaseError,
    IntegrityError,
    OperationalError,
    connection,
    connections,
    transaction,
)
from django.db.backends.base.base import BaseDatabaseWrapper
import pytest

from copilot_admin.models import Blob, Event, Provider
from copilot_admin.storage import writer as writer_module
from copilot_admin.storage.database_thread import DatabaseThread, JournalDown
from copilot_admin.storage.held_back import FirstThen, InOrder
from copilot_admin.storage.writer import Writer
from tests.waiting import HANGS_SECONDS

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def writer() -> Iterator[Writer]:
    thread = Writer("test-writer", capacity=20)
    yield thread
    assert thread.stop(timeout=HANGS_SECONDS)


@pytest.fixture
def reader() -> Iterator[DatabaseThread]:
    thread = DatabaseThread("test-reader", capacity=2)
    yield thread
    assert thread.stop(timeout=HANGS_SECONDS)


def at_once(writer: Writer, *jobs: Callable[[], Any]) -> list[Future[Any]]:
    """Has all jobs wait before the first one is done."""
    go = hold(writer)
    futures = [writer.submit(job) for job in jobs]
    go.set()
    return futures


def hold(writer: Writer) -> threading.Event:
    """Keeps the writer busy until the event is set."""
    go, has_begun = threading.Event(), threading.Event()

    def busy() -> None:
        has_begun.set()
        assert go.wait(HANGS_SECONDS)

    writer.submit(busy)
    assert has_begun.wait(HANGS_SECONDS)
    return go


def make(name: str) -> Callable[[], str]:
    return lambda: Provider.objects.create(name=name, kind="rehearsal").name


def names() -> set[str]:
    return set(Provider.objects.values_list("name", flat=True))


def test_a_result_is_given_when_it_is_committed(writer):
    assert writer.submit(make("One")).result(HANGS_SECONDS) == "One"
    assert names() == {"One"}


def test_a_job_that_is_refused_keeps_nobody_waiting_and_takes_none_of_the_others_with_it(
    writer, monkeypatch
):
    pauses: list[float] = []
    monkeypatch.setattr(writer_module.time, "sleep", pauses.append)

    def refused() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT no_such_column FROM copilot_admin_provider")

    before, broken, behind = at_once(writer, make("Before"), refused, make("Behind"))
    with pytest.raises(DatabaseError, match="no_such_column"):
        broken.result(HANGS_SECONDS)
    assert [one.result(HANGS_SECONDS) for one in (before, behind)] == ["Before", "Behind"]
    assert names() == {"Before", "Behind"}
    assert pauses == []


def test_what_waits_is_committed_together(writer):
    happened: list[str] = []

    def job() -> None:
        happened.append("job")
        transaction.on_commit(lambda: happened.append("commit"))

    for future in at_once(writer, job, job, job):
        future.result(HANGS_SECONDS)
    assert happened == ["job"] * 3 + ["commit"] * 3


def break_unique() -> None:
    make("Same")()
    make("Same")()


def break_at_commit() -> None:
    Event.objects.create(run_id="00000000-0000-0000-0000-000000000000", ord=0, type="status")


def break_python() -> None:
    make("Lost")()
    raise KeyError("a bug")


def break_process() -> None:
    make("Lost")()
    raise SystemExit(1)


@pytest.mark.parametrize(
    ("job", "error"),
    [
        (break_unique, IntegrityError),
        (break_at_commit, IntegrityError),
        (break_python, KeyError),
        (break_process, SystemExit),
    ],
)
def test_a_job_that_fails_fails_alone(writer, job, error):
    before, bad, after = at_once(writer, make("Before"), job, make("After"))
    assert (before.result(HANGS_SECONDS), after.result(HANGS_SECONDS)) == ("Before", "After")
    assert isinstance(bad.exception(HANGS_SECONDS), error)
    assert names() == {"Before", "After"}


def test_a_job_that_fails_in_a_full_queue_costs_no_other_job(writer):
    bad, *others = at_once(writer, break_unique, *(make(f"{number}") for number in range(18)))
    assert {other.result(HANGS_SECONDS) for other in others} == {
        f"{number}" for number in range(18)
    }
    assert isinstance(bad.exception(HANGS_SECONDS), IntegrityError)


def failing(times: int, *, name: str) -> Callable[[], str]:
    left = [times]

    def job() -> str:
        if left[0]:
            left[0] -= 1
            raise OperationalError("database is locked")
        return make(name)()

    return job


@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_a_lock_or_a_lost_connection_is_tried_again(writer, times):
    other, unlucky = at_once(writer, make("Other"), failing(times, name="Unlucky"))
    assert (other.result(HANGS_SECONDS), unlucky.result(HANGS_SECONDS)) == ("Other", "Unlucky")
    assert names() == {"Other", "Unlucky"}


def test_a_job_that_the_database_always_refuses_harms_no_other(writer):
    other, poison = at_once(writer, make("Other"), failing(99, name="Poison"))
    assert other.result(HANGS_SECONDS) == "Other"
    assert isinstance(poison.exception(HANGS_SECONDS), OperationalError)


def test_jobs_fail_when_the_database_is_gone(writer, monkeypatch):
    def refuse(batch: object) -> None:
        raise OperationalError("connection refused")

    go = hold(writer)
    monkeypatch.setattr(writer_module, "_commit", refuse)
    futures = [writer.submit(make(name)) for name in ("One", "Two")]
    go.set()
    assert all(isinstance(future.exception(HANGS_SECONDS), OperationalError) for future in futures)


def test_a_lock_that_was_waited_for_long_is_waited_for_no_more(writer, monkeypatch):
    monkeypatch.setattr(writer_module, "LONG_TRY_SECONDS", -1.0)
    tries: list[int] = []

    def locked(batch: object) -> None:
        tries.append(1)
        raise OperationalError("database is locked")

    monkeypatch.setattr(writer_module, "_commit", locked)
    assert isinstance(writer.submit(make("One")).exception(HANGS_SECONDS), OperationalError)
    assert len(tries) == 1


def test_jobs_behind_a_lock_do_not_wait_for_it_one_after_the_other(writer, monkeypatch):
    """The last frames of answers waited for 27 s where an index was made on a table of the journal."""
    now = [0.0]
    tries: list[str] = []
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda seconds: None)
    monkeypatch.setattr(writer_module, "time", clock)

    def locked(name: str) -> None:
        tries.append(name)
        now[0] += 2.0
        raise OperationalError("canceling statement due to lock timeout")

    futures = at_once(writer, *(partial(locked, name) for name in ("one", "two", "three")))
    errors = [future.exception(HANGS_SECONDS) for future in futures]
    assert [type(error) for error in errors] == [OperationalError] * 3
    assert tries == ["one", "one", "two"]  # with the others, and alone; the third fails like them
    assert now == [6.0]


def test_a_savepoint_that_cannot_be_undone_costs_no_other_job(writer, monkeypatch):
    def refuse(self: object, sid: str) -> None:
        raise DatabaseError("no such savepoint")

    monkeypatch.setattr(BaseDatabaseWrapper, "savepoint_rollback", refuse)
    other, bad = at_once(writer, make("Other"), break_unique)
    assert other.result(HANGS_SECONDS) == "Other"
    assert isinstance(bad.exception(HANGS_SECONDS), IntegrityError)
    assert names() == {"Other"}


def test_jobs_that_are_tried_alone_are_done_before_those_that_came_later(writer, monkeypatch):
    monkeypatch.setattr(writer_module, "BATCH", 3)
    done: list[int] = []
    one, two, later = (partial(done.append, number) for number in (1, 2, 3))
    for future in at_once(writer, one, break_python, two, later):
        future.exception(HANGS_SECONDS)
    assert done[-3:] == [1, 2, 3]


def test_a_waiter_that_leaves_does_not_stop_its_job(writer):
    go = threading.Event()
    writer.submit(lambda: go.wait(HANGS_SECONDS))

    async def leave() -> None:
        waiter = asyncio.create_task(writer.run(make("Kept")))
        await asyncio.sleep(0)
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter

    asyncio.run(leave())
    go.set()
    assert writer.submit(names).result(HANGS_SECONDS) == {"Kept"}


def test_the_loop_goes_on_while_a_job_is_done(writer):
    async def both() -> tuple[str, int]:
        ticks = 0
        job = asyncio.ensure_future(writer.run(make("One")))
        while not job.done():
            await asyncio.sleep(0)
            ticks += 1
        return await job, ticks

    name, ticks = asyncio.run(both())
    assert name == "One"
    assert ticks > 1


def test_a_full_queue_is_refused_and_loses_nothing(writer):
    go = threading.Event()
    writer.submit(lambda: go.wait(HANGS_SECONDS))
    taken = [writer.submit(make(f"{number}")) for number in range(19)]
    with pytest.raises(JournalDown) as refused:
        writer.submit(make("too many"))
    assert (refused.value.status, refused.value.code) == (503, "journal-down")
    go.set()
    assert {future.result(HANGS_SECONDS) for future in taken} == names()


def test_a_writer_that_is_never_idle_counts_only_what_it_has_not_done(writer):
    names_so_far: set[str] = set()
    go = hold(writer)
    for turn in range(10):  # 5 jobs each: more than twice as many as may wait
        batch = [writer.submit(make(f"{turn}-{number}")) for number in range(4)]
        has_begun, later = threading.Event(), threading.Event()

        def busy(has_begun: threading.Event = has_begun, later: threading.Event = later) -> None:
            has_begun.set()
            assert later.wait(HANGS_SECONDS)

        writer.submit(busy)
        go.set()
        assert has_begun.wait(HANGS_SECONDS)
        assert writer.waiting == 5
        go = later
        names_so_far |= {f"{turn}-{number}" for number in range(4)}
    go.set()
    assert {future.result(HANGS_SECONDS) for future in batch} <= names_so_far
    assert writer.wait_until_idle(timeout=HANGS_SECONDS)
    assert names() == names_so_far


def test_whoever_waits_is_told_when_settling_itself_breaks(writer, monkeypatch):
    def broken(batch: object) -> bool:
        raise RuntimeError("cannot close a connection")

    with monkeypatch.context() as patched:
        patched.setattr(writer_module, "_settled_together", broken)
        future = writer.submit(make("Lost"))
        assert isinstance(future.exception(HANGS_SECONDS), RuntimeError)
    assert writer.submit(make("Next")).result(HANGS_SECONDS) == "Next"


def test_a_thread_that_stops_finishes_first_and_starts_again(writer):
    go = threading.Event()
    writer.submit(lambda: go.wait(HANGS_SECONDS))
    waiting = writer.submit(make("Waiting"))
    assert writer.stop(timeout=0.01) is False
    go.set()
    assert waiting.result(HANGS_SECONDS) == "Waiting"
    assert writer.submit(make("Later")).result(HANGS_SECONDS) == "Later"
    assert writer.stop(timeout=HANGS_SECONDS) is True


def test_a_stopping_thread_takes_no_more(writer):
    go = threading.Event()
    writer.submit(lambda: go.wait(HANGS_SECONDS))
    stopping = threading.Thread(target=writer.stop, kwargs={"timeout": HANGS_SECONDS})
    stopping.start()
    while not writer._stopping:
        threading.Event().wait(0.001)
    with pytest.raises(JournalDown):
        writer.submit(make("Late"))
    go.set()
    stopping.join()
    assert names() == set()


def test_a_forked_child_has_a_thread_of_its_own(writer):
    writer.submit(make("Parent")).result(HANGS_SECONDS)
    parent_thread = writer._executor
    writer._pid = -1  # as it looks in a child
    assert writer.submit(make("Child")).result(HANGS_SECONDS) == "Child"
    assert writer._executor is not parent_thread
    assert parent_thread is not None
    parent_thread.submit(connections.close_all).result(HANGS_SECONDS)
    parent_thread.shutdown()


def test_a_stopping_interpreter_takes_no_more(writer):
    writer.submit(make("One")).result(HANGS_SECONDS)
    assert writer._executor is not None
    writer._executor.submit(connections.close_all).result(HANGS_SECONDS)
    writer._executor.shutdown()
    with pytest.raises(JournalDown):
        writer.submit(make("Two"))
    writer._begin_anew()


def test_a_reader_tries_again_with_a_new_connection(reader):
    Blob.objects.create(sha256="0" * 64, data=b"", size=0)
    lost = [OperationalError("server closed the connection")]

    def read() -> int:
        if lost:
            raise lost.pop()
        return Blob.objects.count()

    assert asyncio.run(reader.run(read)) == 1


def test_a_reader_gives_up_after_the_second_try(reader):
    def read() -> None:
        raise OperationalError("gone")

    with pytest.raises(OperationalError):
        reader.submit(read).result(HANGS_SECONDS)


def test_a_thread_that_never_worked_stops_at_once():
    assert DatabaseThread("idle").stop(timeout=0) is True


def noted(into: list[str], name: str, *, rows: int = 0) -> InOrder[None]:
    """A job that notes when it is done and when it is committed."""

    def job() -> None:
        into.append(name)
        transaction.on_commit(lambda: into.append(f"/{name}"))

    return InOrder(("t", name.rstrip("'")), job, rows=rows)


def done(writer: Writer, *jobs: tuple[str, int]) -> list[list[str]]:
    """The groups in which jobs with so many rows are committed."""
    happened: list[str] = []
    for future in at_once(writer, *(noted(happened, name, rows=rows) for name, rows in jobs)):
        future.result(HANGS_SECONDS)
    groups: list[list[str]] = [[]]
    for before, after in pairwise(["", *happened]):
        if before.startswith("/") and not after.startswith("/"):
            groups.append([])
        if not after.startswith("/"):
            groups[-1].append(after)
    return groups


MANY = writer_module.MOST_ROWS


class TestManyRows:
    """Those of one commit are bounded, and nobody waits for more than one such."""

    def test_others_go_before_the_second_that_writes_very_many(self, writer):
        jobs = (("a", MANY), ("b", MANY), ("c", MANY), ("d", 0), ("e", 0))
        assert done(writer, *jobs) == [["a", "d", "e"], ["b"], ["c"]]

    def test_as_many_as_fit_go_together(self, writer):
        jobs = (("a", MANY // 2), ("b", MANY // 2), ("c", 1), ("d", 0))
        assert done(writer, *jobs) == [["a", "b", "d"], ["c"]]

    def test_one_that_writes_more_than_may_be_is_written_all_the_same(self, writer):
        assert done(writer, ("a", 5 * MANY), ("b", MANY), ("c", 0)) == [["a", "c"], ["b"]]

    def test_what_belongs_to_one_that_waits_waits_too(self, writer):
        jobs = (("a", MANY), ("b", MANY), ("b'", 0), ("b''", 0), ("c", 0))
        assert done(writer, *jobs) == [["a", "c"], ["b", "b'", "b''"]]

    def test_jobs_without_a_place_wait_for_none(self, writer):
        happened: list[str] = []
        jobs = (
            *(noted(happened, name, rows=MANY) for name in "ab"),
            lambda: happened.append("c"),
            FirstThen(("u",), lambda: None, noted(happened, "d", rows=MANY)),
        )
        for future in at_once(writer, *jobs):
            future.result(HANGS_SECONDS)
        assert happened == ["a", "c", "/a", "b", "/b", "d", "/d"]
