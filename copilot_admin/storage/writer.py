"""The one thread of a process that writes the journal: what waits is committed together."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
import time
from typing import Any, Generic, TypeVar

from django.db import connection, connections, transaction

from copilot_admin.storage.database_thread import (
    OUTAGES,
    DatabaseThread,
    Reader,
    is_refusal,
)
from copilot_admin.storage.held_back import (
    do_first,
    holding_back,
    in_order,
    rows_of,
    store_contents,
)
from copilot_admin.storage.large_values import ending_what_was_used
from copilot_admin.storage.same_file import DATABASE_FILE

T = TypeVar("T")

BATCH = 100  # jobs of one commit: about 0.2 s of work, so nobody waits long for the others
# Rows of one commit, of jobs that write very many: a history of 2,000 messages takes some 0.1 s. Twenty of
# them were one commit, for which everybody waited for seconds.
MOST_ROWS = 2000
PAUSES = (0.05, 0.25, 1.0)  # seconds between tries; a restart of PostgreSQL takes about one
# A try that took so long waited for a lock (PostgreSQL's waits for one end after 2 s): another one waits
# as long again, and whoever comes behind it. What PostgreSQL ends as a deadlock took 1 s.
LONG_TRY_SECONDS = 1.5
GIVE_UP_SECONDS = 3.0  # in which jobs of a batch fail one by one; then so do the others


class _JobBroke(Exception):
    """The database gave up inside a job, not before the first or at the commit."""


class _Waiting(Generic[T]):
    """A job and the future of its result, which is settled after the commit only."""

    def __init__(self, job: Callable[[], T]) -> None:
        self.job = job
        self.since = time.monotonic()
        self.future: Future[T] = Future()
        self.future.set_running_or_notify_cancel()  # it is done even if nobody waits any more


class Writer(DatabaseThread):
    """Commits jobs in groups: one transaction for all that wait.

    Jobs that write very many rows do not all go into one group; those of others go between them.

    Jobs of a group that have a place are done in the order of places, before the others: two
    processes would wait for each other where each holds a row that the other asks for. A result is
    given only when it is committed. A job that fails fails alone: the others of its
    group are done again, each in a transaction of its own. So a job may run more than once, also
    when a lock or a lost connection ends a transaction.
    """

    def __init__(self, name: str, *, capacity: int = 1000) -> None:
        super().__init__(name, capacity=capacity)
        self._queue: deque[_Waiting[Any]] = deque()
        self._is_draining = False
        self._being_done_since: float | None = None

    def lag_seconds(self, now: float) -> float:
        """How long the oldest job has waited that is not done yet.

        Args:
            now: By the monotonic clock.
        """
        if not self._unfinished:  # the thread has yet to notice that its last batch is done
            return 0.0
        since = self._being_done_since
        if since is None:
            try:
                since = self._queue[0].since
            except IndexError:
                return 0.0
        return max(0.0, now - since)

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """Hands over a job; it is done even if nobody waits for its result any more.

        Raises:
            JournalDown: Too many jobs wait, or the thread is being stopped.
        """
        self._survive_fork()
        waiting = _Waiting(job)
        with self._idle:
            self._look_for_room()
            if not self._is_draining:
                self._start(self._drain)
                self._is_draining = True
            self._queue.append(waiting)
            self._unfinished += 1
        waiting.future.add_done_callback(self._one_done)
        return waiting.future

    def _begin_anew(self) -> None:
        super()._begin_anew()
        self._queue = deque()
        self._is_draining = False

    def _drain(self) -> None:
        """Does what waits until nothing does: one call for all jobs of a busy time, not one each."""
        while batch := self._next_batch():
            _settle(batch)

    def _next_batch(self) -> list[_Waiting[Any]]:
        with self._idle:
            batch = _picked(self._queue)
            self._is_draining = bool(batch)
            self._being_done_since = batch[0].since if batch else None
        return sorted(batch, key=lambda waiting: in_order(waiting.job))


def _picked(queue: deque[_Waiting[Any]]) -> list[_Waiting[Any]]:
    """Takes what is committed next, always with the oldest; jobs of one place keep their order."""
    taken: list[_Waiting[Any]] = []
    left: list[_Waiting[Any]] = []
    places, most = set(), MOST_ROWS
    while queue and len(taken) < BATCH:
        waiting = queue.popleft()
        place, rows = in_order(waiting.job)[1], rows_of(waiting.job)
        if (rows <= most or not taken) and place not in places:
            taken.append(waiting)
            most = max(0, most - rows)
        else:
            left.append(waiting)
            places |= {place} if place else set()
    queue.extendleft(reversed(left))
    return taken


def _settle(batch: Sequence[_Waiting[Any]]) -> None:
    """Settles every job of a batch, whatever happens: who waits for one has no other end."""
    try:
        if not _settled_together(batch):
            _settle_one_by_one(batch)
    except BaseException as error:  # noqa: BLE001  # a job's boundary (ADR 1)
        for waiting in batch:
            if not waiting.future.done():
                waiting.future.set_exception(error)


def _settled_together(batch: Sequence[_Waiting[Any]]) -> bool:
    """Commits a batch; False when its jobs have to be tried one by one."""
    failure: Exception | None = None
    for pause in PAUSES:
        began = time.monotonic()
        try:
            results = _commit(batch)
        except (*OUTAGES, _JobBroke) as error:
            failure = error
        except BaseException:  # noqa: BLE001  # a job's boundary (ADR 1): one of them is to blame
            return False
        else:
            for waiting, result in zip(batch, results, strict=True):
                waiting.future.set_result(result)
            return True
        connections.close_all()
        if _is_refused(failure):
            return False
        if _was_long(began):
            break
        time.sleep(pause)
    if isinstance(failure, _JobBroke):
        return False
    for waiting in batch:
        waiting.future.set_exception(failure)
    return True


def _is_refused(failure: Exception) -> bool:
    """Whether the database would say the same of it a second later; SQLite says so in the class of outages."""
    error = failure.__cause__ if isinstance(failure, _JobBroke) else failure
    return error is not None and is_refusal(error)


def _settle_one_by_one(batch: Sequence[_Waiting[Any]]) -> None:
    """Gives each job its own try; where a lock keeps several waiting, the others fail as they did."""
    began = time.monotonic()
    for waiting in batch:
        failure = _settle_alone(waiting)
        if isinstance(failure, OUTAGES) and time.monotonic() - began > GIVE_UP_SECONDS:
            break
    for waiting in batch:
        if not waiting.future.done():
            waiting.future.set_exception(failure)


def _settle_alone(waiting: _Waiting[Any]) -> BaseException | None:
    """Gives a job a transaction of its own; whoever waits for it is told whatever comes of it."""
    try:
        result = _alone(waiting.job)
    except BaseException as error:  # noqa: BLE001  # a job's boundary (ADR 1)
        waiting.future.set_exception(error)
        return error
    waiting.future.set_result(result)
    return None


def _commit(batch: Sequence[_Waiting[Any]]) -> list[Any]:
    jobs = [waiting.job for waiting in batch]
    with ending_what_was_used():
        _attempt(partial(store_contents, jobs))
        _attempt(partial(do_first, jobs))
        with transaction.atomic(), holding_back() as do_the_rest:
            results = [_attempt(job) for job in jobs]
            _attempt(do_the_rest)
            DATABASE_FILE.check(connection.connection)
            return results


def _attempt(job: Callable[[], T]) -> T:
    try:
        return job()
    except OUTAGES as error:
        raise _JobBroke from error


def _alone(job: Callable[[], T]) -> T:
    began = time.monotonic()
    try:
        return _whole(job)
    except OUTAGES:
        connections.close_all()
        if _was_long(began):
            raise
    return _whole(job)


def _was_long(began: float) -> bool:
    return time.monotonic() - began > LONG_TRY_SECONDS


def _whole(job: Callable[[], T]) -> T:
    with ending_what_was_used(), transaction.atomic(), holding_back() as do_the_rest:
        result = job()
        do_the_rest()
        DATABASE_FILE.check(connection.connection)
        return result


WRITER = Writer("journal-writer")
READER = Reader("journal-reader")
