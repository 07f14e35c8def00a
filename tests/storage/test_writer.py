"""The threads of the database: what waits is committed together, and fails alone."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
import threading
from types import SimpleNamespace
from typing import Any

from django.db import DatabaseError, IntegrityError, OperationalError, connection, transaction
import pytest

from copilot_admin.models import Event, Provider
from copilot_admin.storage import writer as writer_module
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.storage.writer import DatabaseThread, Reader, Writer
from tests.polling import HANGS_SECONDS

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def writer() -> Iterator[Writer]:
    thread = Writer("test-writer", capacity=20)
    yield thread
    assert thread.stop(timeout=HANGS_SECONDS)


@pytest.fixture
def reader() -> Iterator[Reader]:
    thread = Reader("test-reader", capacity=2)
    yield thread
    assert thread.stop(timeout=HANGS_SECONDS)


def hold(thread: DatabaseThread) -> threading.Event:
    """Keeps a thread busy until the event is set."""
    go, has_begun = threading.Event(), threading.Event()

    def busy() -> None:
        has_begun.set()
        assert go.wait(HANGS_SECONDS)

    thread.submit(busy)
    assert has_begun.wait(HANGS_SECONDS)
    return go


def submit_together(writer: Writer, *jobs: Callable[[], Any]) -> list[Future[Any]]:
    """Has all jobs wait before the first one is run."""
    go = hold(writer)
    futures = [writer.submit(job) for job in jobs]
    go.set()
    return futures


def make(name: str) -> Callable[[], str]:
    return lambda: Provider.objects.create(name=name, kind="demo").name


def names() -> set[str]:
    return set(Provider.objects.values_list("name", flat=True))


def test_a_result_is_delivered_after_its_commit(writer):
    assert writer.submit(make("One")).result(HANGS_SECONDS) == "One"
    assert names() == {"One"}


def test_jobs_that_wait_are_committed_together(writer):
    happened: list[str] = []

    def job() -> None:
        happened.append("job")
        transaction.on_commit(lambda: happened.append("commit"))

    for future in submit_together(writer, job, job, job):
        future.result(HANGS_SECONDS)
    assert happened == ["job"] * 3 + ["commit"] * 3


def test_long_jobs_are_committed_in_groups_that_end_after_a_time(writer, monkeypatch):
    monkeypatch.setattr(writer_module, "MAX_BATCH_SECONDS", -1.0)
    happened: list[str] = []

    def job(name: str) -> str:
        happened.append(name)
        transaction.on_commit(lambda: happened.append(f"/{name}"))
        return name

    futures = submit_together(writer, *(partial(job, name) for name in "abc"))
    assert [future.result(HANGS_SECONDS) for future in futures] == ["a", "b", "c"]
    assert happened == ["a", "/a", "b", "/b", "c", "/c"]


def break_unique() -> None:
    make("Same")()
    make("Same")()


def break_at_commit() -> None:
    Event.objects.create(run_id="00000000-0000-0000-0000-000000000000", ord=0, type="status")


def break_python() -> None:
    make("Lost")()
    raise KeyError("a bug")


def break_statement() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT no_such_column FROM copilot_admin_provider")


def break_always() -> None:
    raise OperationalError("database is locked")


@pytest.mark.parametrize(
    ("job", "error"),
    [
        (break_unique, IntegrityError),
        (break_at_commit, IntegrityError),
        (break_python, KeyError),
        (break_statement, DatabaseError),
        (break_always, OperationalError),
    ],
)
def test_a_job_that_fails_fails_alone(writer, job, error):
    before, bad, after = submit_together(writer, make("Before"), job, make("After"))
    assert (before.result(HANGS_SECONDS), after.result(HANGS_SECONDS)) == ("Before", "After")
    assert isinstance(bad.exception(HANGS_SECONDS), error)
    assert names() == {"Before", "After"}


@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_a_lock_or_a_lost_connection_is_retried(writer, times):
    left = [times]

    def unlucky() -> str:
        if left[0]:
            left[0] -= 1
            raise OperationalError("database is locked")
        return make("Unlucky")()

    futures = submit_together(writer, make("Other"), unlucky)
    assert [future.result(HANGS_SECONDS) for future in futures] == ["Other", "Unlucky"]
    assert names() == {"Other", "Unlucky"}


def test_jobs_behind_a_lock_do_not_wait_for_it_one_after_the_other(writer, monkeypatch):
    now = [0.0]
    tries: list[str] = []
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda seconds: None)
    monkeypatch.setattr(writer_module, "time", clock)

    def locked(name: str) -> None:
        tries.append(name)
        now[0] += 2.0
        raise OperationalError("canceling statement due to lock timeout")

    jobs = [partial(locked, name) for name in ("one", "two", "three")]
    errors = [future.exception(HANGS_SECONDS) for future in submit_together(writer, *jobs)]
    assert [type(error) for error in errors] == [OperationalError] * 3
    assert tries == ["one", "one", "two"]  # with the others, and alone; the third fails untried


def test_a_full_queue_rejects_a_job_and_loses_none(writer):
    go = hold(writer)
    taken = [writer.submit(make(f"{number}")) for number in range(19)]
    with pytest.raises(DatabaseUnavailable) as rejected:
        writer.submit(make("too many"))
    assert (rejected.value.status, rejected.value.code) == (503, "database-unavailable")
    go.set()
    assert {future.result(HANGS_SECONDS) for future in taken} == names()


def test_a_thread_that_stops_finishes_first_and_starts_again(writer):
    go = hold(writer)
    waiting = writer.submit(make("Waiting"))
    assert writer.stop(timeout=0.01) is False
    go.set()
    assert waiting.result(HANGS_SECONDS) == "Waiting"
    assert writer.submit(make("Later")).result(HANGS_SECONDS) == "Later"
    assert writer.stop(timeout=HANGS_SECONDS) is True
    assert writer.submit(names).result(HANGS_SECONDS) == {"Waiting", "Later"}


def test_the_lag_is_the_age_of_the_oldest_job_that_is_not_done(writer):
    assert writer.lag_seconds(1e9) == 0
    go = hold(writer)
    writer.submit(names)
    assert writer.waiting == 2
    assert writer.lag_seconds(1e9 + 10) - writer.lag_seconds(1e9) == 10
    go.set()
    assert writer.wait_until_idle(timeout=HANGS_SECONDS)
    assert (writer.waiting, writer.lag_seconds(1e9)) == (0, 0)


def test_a_reader_tries_again_once_with_a_new_connection(reader):
    lost = [OperationalError("server closed the connection")]

    def read() -> set[str]:
        if lost:
            raise lost.pop()
        return names()

    assert asyncio.run(reader.run(read)) == set()
    with pytest.raises(DatabaseUnavailable):
        asyncio.run(reader.run(break_always))


def test_a_reader_does_not_run_a_job_whose_caller_has_left(reader):
    read: list[int] = []
    go = hold(reader)

    async def leave() -> None:
        caller = asyncio.create_task(reader.run(lambda: read.append(1)))
        await asyncio.sleep(0)
        caller.cancel()
        await asyncio.gather(caller, return_exceptions=True)

    asyncio.run(leave())
    go.set()
    assert reader.wait_until_idle(timeout=HANGS_SECONDS)
    reader.submit(names).result(HANGS_SECONDS)
    assert read == []
