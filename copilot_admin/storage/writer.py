"""The threads that own database connections: one reads, one commits writes in groups."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
import threading
import time
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.db import connections, transaction

from copilot_admin.storage.errors import OUTAGES, DatabaseUnavailable, is_refusal

T = TypeVar("T")

MAX_BATCH_JOBS = 100
# A job that writes a history of 2,000 messages takes some 0.1 s; all others would wait for twenty such.
MAX_BATCH_SECONDS = 0.2
RETRY_PAUSES_SECONDS = (0.05, 0.25, 1.0)  # a restart of PostgreSQL takes about one
# An attempt that took so long waited for a lock: PostgreSQL's `lock_timeout` is 2 s. Another attempt
# would wait as long again, and so would all jobs behind it.
MAX_RETRIED_SECONDS = 1.5
GIVE_UP_SECONDS = 3.0  # jobs of a batch are tried one by one for so long; the others fail


class Deadline:
    """Total time that one request may wait for the database."""

    def __init__(self) -> None:
        self.remaining: float = settings.DATABASE_WAIT_SECONDS

    @asynccontextmanager
    async def limit(self) -> AsyncIterator[None]:
        """Run a block within the remaining time; raise DatabaseUnavailable after it."""
        started = time.monotonic()
        try:
            async with asyncio.timeout(self.remaining):
                yield
        except (TimeoutError, *OUTAGES) as error:
            raise DatabaseUnavailable from error
        finally:
            self.remaining = max(0.0, self.remaining - (time.monotonic() - started))


class _Queued(Generic[T]):
    def __init__(self, job: Callable[[], T]) -> None:
        self.job = job
        self.since = time.monotonic()
        self.future: Future[T] = Future()


class DatabaseThread:
    """Runs jobs one after the other on one thread with one connection.

    The thread starts with the first job, ends with `stop`, and starts again with the next job. It
    rejects a job if `capacity` jobs wait already.
    """

    _max_batch_jobs = 1
    _is_cancellable = True

    def __init__(self, name: str, *, capacity: int = 1000) -> None:
        self.capacity = capacity
        self._name = name
        self._changed = threading.Condition()  # its lock guards what follows
        self._queue: deque[_Queued[Any]] = deque()
        self._current: Sequence[_Queued[Any]] = ()
        self._executor: ThreadPoolExecutor | None = None
        self._unfinished = 0
        self._is_draining = False
        self._is_stopping = False

    @property
    def waiting(self) -> int:
        return self._unfinished

    def lag_seconds(self, now: float) -> float:
        """Return the age of the oldest job that is not done yet; `now` is the monotonic clock."""
        with self._changed:
            jobs = [*self._current, *self._queue]
            ages = (now - queued.since for queued in jobs if not queued.future.done())
            return max(ages, default=0.0)

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """Queue a job; raise DatabaseUnavailable if too many wait, or the thread is being stopped."""
        queued = _Queued(job)
        if not self._is_cancellable:
            queued.future.set_running_or_notify_cancel()
        with self._changed:
            if self._is_stopping or self._unfinished >= self.capacity:
                raise DatabaseUnavailable
            self._start_draining()
            self._queue.append(queued)
            self._unfinished += 1
        queued.future.add_done_callback(self._note_done)
        return queued.future

    async def run(self, job: Callable[[], T]) -> T:
        """Run a job without blocking the event loop; a cancelled caller does no harm."""
        return await asyncio.wrap_future(self.submit(job))

    def wait_until_idle(self, *, timeout: float) -> bool:
        """Wait until every job is done; return False if that took longer than `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: self._unfinished == 0, timeout)

    def stop(self, *, timeout: float) -> bool:
        """Reject new jobs, finish the queue and close the connection; False if `timeout` was too short."""
        with self._changed:
            self._is_stopping = True
            is_idle = self.wait_until_idle(timeout=timeout)
            executor = self._executor
        if is_idle and executor is not None:
            self._executor = None
            executor.submit(connections.close_all)
            executor.shutdown()
        self._is_stopping = False
        return is_idle

    def _start_draining(self) -> None:
        if self._is_draining:
            return
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, thread_name_prefix=self._name)
        try:
            self._executor.submit(self._drain)
        except RuntimeError as error:  # the interpreter is shutting down
            raise DatabaseUnavailable from error
        self._is_draining = True

    def _drain(self) -> None:
        while batch := self._next_batch():
            try:
                self._run_batch(batch)
            except BaseException as error:  # noqa: BLE001  # a job's boundary: its caller gets it
                for queued in batch:
                    if not queued.future.done():
                        queued.future.set_exception(error)

    def _next_batch(self) -> Sequence[_Queued[Any]]:
        with self._changed:
            number = min(len(self._queue), self._max_batch_jobs)
            self._current = [self._queue.popleft() for _ in range(number)]
            self._is_draining = bool(self._current)
            return self._current

    def _run_batch(self, batch: Sequence[_Queued[Any]]) -> None:
        for queued in batch:
            if queued.future.set_running_or_notify_cancel():
                queued.future.set_result(_run_reconnecting(queued.job))

    def _note_done(self, _future: object) -> None:
        with self._changed:
            self._unfinished -= 1
            self._changed.notify_all()


class Reader(DatabaseThread):
    """Reads for requests; a job whose caller has left isn't run."""

    async def run(self, job: Callable[[], T], deadline: Deadline | None = None) -> T:
        """Run a job without blocking the event loop, within the deadline of a request."""
        async with (deadline or Deadline()).limit():
            return await super().run(job)


class Writer(DatabaseThread):
    """Commits jobs in groups: one transaction for all that wait.

    The result of a job is delivered after the commit. A job that fails fails alone: the others of
    its group are run again, each in a transaction of its own. So a job may run more than once, also
    when a lock or a lost connection ends a transaction. A job runs even if its caller has left.
    """

    _max_batch_jobs = MAX_BATCH_JOBS
    _is_cancellable = False

    def _run_batch(self, batch: Sequence[_Queued[Any]]) -> None:
        failure = self._commit_or_retry(batch)
        if failure is not None and len(batch) > 1:
            self._run_one_by_one(batch)
        elif failure is not None:
            batch[0].future.set_exception(failure)

    def _run_one_by_one(self, batch: Sequence[_Queued[Any]]) -> None:
        give_up_at = time.monotonic() + GIVE_UP_SECONDS
        failure: BaseException | None = None
        for queued in batch:
            if not (isinstance(failure, OUTAGES) and time.monotonic() > give_up_at):
                failure = self._commit_or_retry([queued])
            if failure is not None:
                queued.future.set_exception(failure)

    def _commit_or_retry(self, batch: Sequence[_Queued[Any]]) -> BaseException | None:
        for pause in (*RETRY_PAUSES_SECONDS, None):
            started = time.monotonic()
            try:
                results = _commit([queued.job for queued in batch])
            except OUTAGES as error:
                connections.close_all()
                is_slow = time.monotonic() - started > MAX_RETRIED_SECONDS
                if pause is None or is_slow or is_refusal(error):
                    return error
                time.sleep(pause)
            except BaseException as error:  # noqa: BLE001  # a job's boundary: its caller gets it
                return error
            else:
                with self._changed:
                    self._queue.extendleft(reversed(batch[len(results) :]))
                for queued, result in zip(batch, results, strict=False):
                    queued.future.set_result(result)
                return None
        raise AssertionError("the last attempt returns")


def _commit(jobs: Sequence[Callable[[], Any]]) -> list[Any]:
    results: list[Any] = []
    started = time.monotonic()
    with transaction.atomic():
        for job in jobs:
            results.append(job())
            if time.monotonic() - started > MAX_BATCH_SECONDS:
                break
    return results


def _run_reconnecting(job: Callable[[], T]) -> T:
    try:
        return job()
    except OUTAGES:
        connections.close_all()
        return job()


def close_lost_connections() -> None:
    """Close the connections of this thread, which runs outside of requests, after an outage.

    Django looks for a lost connection when a request begins, and a background thread has none.
    """
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:  # its end closes it
            connection.close()


WRITER = Writer("journal-writer")
READER = Reader("journal-reader")
