"""A thread that owns its own database connection, so that no stream holds either."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from functools import partial
import os
import sqlite3
import threading
import time
from types import TracebackType
from typing import TypeVar

from django.conf import settings
from django.db import (
    DatabaseError,
    DataError,
    IntegrityError,
    InterfaceError,
    InternalError,
    OperationalError,
    ProgrammingError,
    connections,
)

from copilot_admin.errors import Unavailable
from copilot_admin.storage.damage import is_damage, note_damage

T = TypeVar("T")

# What a database raises that is away, locked or full, or that can only be read, as PostgreSQL after a
# switch to its standby (InternalError); and what whoever asked did wrong. A broken file raises neither
# (see `damage`): trying again does not mend it, and the question was right.
OUTAGES = (OperationalError, InterfaceError, InternalError)
MISTAKES = (DataError, IntegrityError, ProgrammingError)
QUERY_CANCELED = "57014"  # PostgreSQL's code of a statement that took too long


class JournalDown(Unavailable):
    """The database takes no more work at the moment."""

    code = "journal-down"

    def __init__(self) -> None:
        super().__init__("The server cannot reach its records now. Ask again in a few seconds.")


class JournalBroken(JournalDown):
    """The database is damaged: it takes no more work until somebody has mended it."""

    code = "journal-broken"

    def __init__(self) -> None:
        Unavailable.__init__(
            self,
            "The records of this server are damaged. Its operator has to put a backup in their place.",
        )


def is_outage(error: BaseException) -> bool:
    """Whether the database is to blame, and not whoever asked."""
    return isinstance(error, OUTAGES) or is_damage(error)


def is_refusal(error: BaseException) -> bool:
    """Whether the database works, and will not do this: a row breaks its rules, or its tables are others.

    SQLite has one code for all of its own that no table or column of a statement fits, and Django one
    class for that and for outages.
    """
    code = getattr(error.__cause__, "sqlite_errorcode", sqlite3.SQLITE_OK)
    return isinstance(error, MISTAKES) or code == sqlite3.SQLITE_ERROR


def was_cut(error: BaseException) -> bool:
    """Whether PostgreSQL ended a statement that took too long.

    Its driver is asked by the code, not by the class: SQLite is served without loading it.
    """
    return getattr(error.__cause__, "sqlstate", None) == QUERY_CANCELED


class Patience:
    """How long one request waits for the database, with all that it reads and writes together."""

    def __init__(self) -> None:
        self._left: float = settings.DATABASE_WAIT_SECONDS

    def waiting(self) -> AbstractAsyncContextManager[None]:
        """Lets a block wait for as long as the request still may.

        The block raises:
            JournalDown: It has waited for long enough, or the database has failed.
        """
        return _Wait(self)

    @property
    def left(self) -> float:
        """Seconds for which the request still may wait."""
        return self._left

    def spend(self, seconds: float) -> None:
        """Takes what it has waited."""
        self._left = max(0.0, self._left - seconds)


class _Wait:
    """One block of a request that waits; as a generator it took 5 us of CPU, and takes 4."""

    __slots__ = ("_began", "_patience", "_timer")

    def __init__(self, patience: Patience) -> None:
        self._patience = patience

    async def __aenter__(self) -> None:
        self._began = time.monotonic()
        self._timer = asyncio.timeout(self._patience.left)
        await self._timer.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._patience.spend(time.monotonic() - self._began)
        try:
            await self._timer.__aexit__(kind, error, trace)
        except TimeoutError as late:
            raise JournalDown from late
        if isinstance(error, (TimeoutError, *OUTAGES)):
            raise JournalDown from error
        if isinstance(error, DatabaseError) and is_damage(error):
            note_damage(error)
            raise JournalBroken from error


class _OneThread(ThreadPoolExecutor):
    """An executor that starts its one thread, and does not look for another with every job."""

    def __init__(self, name: str) -> None:
        super().__init__(1, thread_name_prefix=name)

    def _adjust_thread_count(self) -> None:
        # The look is a semaphore that is waited for, for no time: a job that is waited for takes
        # 15 us of CPU without it, 24 with it (CPython 3.11).
        if not self._threads:
            super()._adjust_thread_count()


class DatabaseThread:
    """Runs jobs one after the other on one thread with one connection.

    The thread starts with the first job, ends with `stop`, and starts again with the next job, also
    in a forked child, where threads do not survive.

    Args:
        name: Of the thread.
        capacity: Jobs that may wait; one more is refused.
    """

    def __init__(self, name: str, *, capacity: int = 1000) -> None:
        self._name = name
        self._capacity = capacity
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._pid = os.getpid()
        self._idle = threading.Condition()  # its lock guards what follows
        self._executor: ThreadPoolExecutor | None = None
        self._unfinished = 0
        self._stopping = False

    @property
    def waiting(self) -> int:
        """Jobs that are not done yet."""
        return self._unfinished

    @property
    def capacity(self) -> int:
        """How many jobs may wait."""
        return self._capacity

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """Hands over a job, which is tried twice if the connection was lost.

        Raises:
            JournalDown: Too many jobs wait, or the thread is being stopped.
        """
        return self._schedule(partial(_reconnecting, job))

    async def run(self, job: Callable[[], T]) -> T:
        """Does a job without blocking the event loop; a cancelled waiter does no harm.

        Raises:
            JournalDown: Too many jobs wait, or the thread is being stopped.
        """
        loop = asyncio.get_running_loop()
        result: asyncio.Future[T] = loop.create_future()
        done = self.submit(job)
        done.add_done_callback(partial(_hand_over, loop, result))
        try:
            return await result
        except asyncio.CancelledError:
            done.cancel()  # what has not begun is not done
            raise

    def wait_until_idle(self, *, timeout: float) -> bool:
        """Waits until every job is done that was handed over.

        Args:
            timeout: Seconds to wait at the most.

        Returns:
            Whether it came to that.
        """
        self._survive_fork()
        with self._idle:
            return self._idle.wait_for(lambda: self._unfinished == 0, timeout)

    def stop(self, *, timeout: float) -> bool:
        """Takes no more jobs, finishes those that wait, and closes the connection.

        Args:
            timeout: Seconds to wait for the jobs.

        Returns:
            Whether every job was done in time.
        """
        self._survive_fork()
        with self._idle:
            self._stopping = True
            done = self.wait_until_idle(timeout=timeout)
            self._stopping = done
            executor = self._executor
        if not done:
            return False  # what waits is still done, at the latest when the interpreter ends
        if executor is not None:
            executor.submit(connections.close_all)
            executor.shutdown()
        self._begin_anew()
        return True

    def _schedule(self, work: Callable[[], T]) -> Future[T]:
        self._survive_fork()
        with self._idle:
            self._look_for_room()
            future = self._start(work)
            self._unfinished += 1
        future.add_done_callback(self._one_done)
        return future

    def _look_for_room(self) -> None:
        if self._stopping or self._unfinished >= self._capacity:
            raise JournalDown

    def _start(self, work: Callable[[], T]) -> Future[T]:
        if self._executor is None:
            self._executor = _OneThread(self._name)
        try:
            return self._executor.submit(work)
        except RuntimeError as error:  # the interpreter is on its way out
            raise JournalDown from error

    def _survive_fork(self) -> None:
        if self._pid != os.getpid():
            self._begin_anew()

    def _one_done(self, _future: object) -> None:
        with self._idle:
            self._unfinished -= 1
            self._idle.notify_all()


def _hand_over(loop: asyncio.AbstractEventLoop, result: asyncio.Future[T], done: Future[T]) -> None:
    """Tells a task of the loop what came of its job; on the thread, as `asyncio.wrap_future` does.

    That one looks in each direction, and at each of its futures several times.
    """
    if not done.cancelled() and not loop.is_closed():
        loop.call_soon_threadsafe(_settle, result, done)


def _settle(result: asyncio.Future[T], done: Future[T]) -> None:
    if result.done():  # nobody waits any more
        return
    error = done.exception()
    if error is None:
        result.set_result(done.result())
    else:
        result.set_exception(error)


def _reconnecting(job: Callable[[], T]) -> T:
    try:
        return job()
    except OUTAGES:
        connections.close_all()
        return job()


def leave_connections() -> None:
    """Closes what this thread has open to databases, for whoever goes on after an outage.

    A connection that was lost stays lost: Django looks at it when a request begins, and a thread of
    the background has none.
    """
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:  # its end closes it
            connection.close()


class Reader(DatabaseThread):
    """Reads for requests, which wait for a few seconds only; what nobody waits for is not read."""

    async def run(self, job: Callable[[], T], patience: Patience | None = None) -> T:
        """Does a job without blocking the event loop.

        Args:
            job: What is read.
            patience: That of a request which waits more than once.

        Raises:
            JournalDown: The database does not answer, or too many jobs wait.
        """
        async with (patience or Patience()).waiting():
            return await super().run(job)
