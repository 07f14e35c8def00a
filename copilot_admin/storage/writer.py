"""The one thread of a process that writes the journal: what waits is committed together."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
import time
from typing import Any, Generic, TypeVar

from django.db import DatabaseError, InterfaceError, OperationalError, connections, transaction

from copilot_admin.storage.database_thread import DatabaseThread, JournalDown

T = TypeVar("T")

BATCH = 100  # jobs of one commit: about 0.2 s of work, so nobody waits long for the others
PAUSES = (0.05, 0.25, 1.0)  # seconds between tries; a restart of PostgreSQL takes about one


class _JobBroke(Exception):
    """The database gave up inside a job, not before the first or at the commit."""


class _Waiting(Generic[T]):
    """A job and the future of its result, which is settled after the commit only."""

    def __init__(self, job: Callable[[], T]) -> None:
        self.job = job
        self.future: Future[T] = Future()
        self.future.set_running_or_notify_cancel()  # it is done even if nobody waits any more
        self.settle: Callable[[], None] = lambda: None

    def attempt(self) -> None:
        self.settle = partial(self.future.set_result, self.job())

    def fail(self, error: BaseException) -> None:
        self.settle = partial(self.future.set_exception, error)


class Writer(DatabaseThread):
    """Commits jobs in groups: one transaction for all that wait.

    A result is given only when it is committed. A job that fails fails alone: the others of its
    group are done again, each in a transaction of its own. So a job may run more than once, also
    when a lock or a lost connection ends a transaction.
    """

    def __init__(self, name: str, *, capacity: int = 1000) -> None:
        super().__init__(name, capacity=capacity)
        self._queue: deque[_Waiting[Any]] = deque()

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """Hands over a job; it is done even if nobody waits for its result any more.

        Raises:
            JournalDown: Too many jobs wait, or the thread is being stopped.
        """
        self._survive_fork()
        waiting = _Waiting(job)
        with self._idle:
            self._queue.append(waiting)
            try:
                self._schedule(self._drain)
            except JournalDown:
                self._queue.remove(waiting)
                raise
        return waiting.future

    def _begin_anew(self) -> None:
        super()._begin_anew()
        self._queue = deque()

    def _drain(self) -> None:
        batch = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
        settled = not batch
        try:
            settled = settled or _settled_together(batch)
        finally:
            if not settled:
                for waiting in batch:
                    self._do_alone(waiting)

    def _do_alone(self, waiting: _Waiting[Any]) -> None:
        """Gives a job a transaction of its own; the executor catches whatever it raises."""

        def settle(done: Future[Any]) -> None:
            error = done.exception()
            if error is not None:
                waiting.future.set_exception(error)
            else:
                waiting.future.set_result(done.result())

        self._schedule(partial(_alone, waiting.job), even_if_full=True).add_done_callback(settle)


def _settled_together(batch: Sequence[_Waiting[Any]]) -> bool:
    """Commits a batch; False when its jobs have to be tried one by one."""
    broke = False
    for pause in PAUSES:
        try:
            _commit(batch)
        except (OperationalError, InterfaceError) as error:
            broke = False
            for waiting in batch:
                waiting.fail(error)
        except _JobBroke:
            broke = True
        except DatabaseError:  # a constraint, also one checked at the commit: one job is to blame
            return False
        else:
            broke = False
            break
        connections.close_all()
        time.sleep(pause)
    if not broke:
        for waiting in batch:
            waiting.settle()
    return not broke


def _commit(batch: Sequence[_Waiting[Any]]) -> None:
    with transaction.atomic():
        for waiting in batch:
            _attempt(waiting)


def _attempt(waiting: _Waiting[Any]) -> None:
    try:
        waiting.attempt()
    except (OperationalError, InterfaceError) as error:
        raise _JobBroke from error


def _alone(job: Callable[[], T]) -> T:
    try:
        with transaction.atomic():
            return job()
    except (OperationalError, InterfaceError):
        connections.close_all()
    with transaction.atomic():
        return job()


WRITER = Writer("journal-writer")
READER = DatabaseThread("journal-reader")
