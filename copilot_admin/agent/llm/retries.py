"""Retries, deadlines and the shared tick of model calls."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
import random
from types import TracebackType
from typing import Generic, Self, TypeVar
from weakref import WeakKeyDictionary

from copilot_admin.errors import RunError

MAX_RETRIES = 2
_BASE_SECONDS = 0.5
_MAX_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How to wait between attempts; tests give their own.

    Attributes:
        sleep: Waits for seconds.
        random: A number from 0 to 1.
    """

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random


def pause_before_retry(
    error: RunError, *, retries: int, remaining: float, chance: float
) -> float | None:
    """Decides whether to ask again.

    Args:
        error: Why there was no answer.
        retries: How often it was already asked again.
        remaining: Seconds until the first token is due.
        chance: A random number from 0 to 1: full jitter, so that many do not come back at once.

    Returns:
        Seconds to wait first; None when asking again is of no use.
    """
    if not error.retryable or retries >= MAX_RETRIES:
        return None
    ceiling = min(2 * _BASE_SECONDS * 2**retries, _MAX_SECONDS)
    pause = _BASE_SECONDS + chance * (ceiling - _BASE_SECONDS)
    pause = max(pause, error.retry_after or 0.0)
    return pause if pause < remaining else None


class Watch:
    """Cancels the step of its task that is being awaited once its deadline has passed.

    A timer for each chunk would cost more than the chunk. This one sleeps until the earliest
    moment at which anything can be due, looks at the clock, and sleeps on; starting and ending a
    wait only sets a number. While nothing is awaited nothing is cancelled, so that it never hits
    whoever consumes the stream.

    Use it as a context around the stream, with `wait_until` before each step and `arrived` after;
    a step that the watch cancelled raises CancelledError, and `expired` tells it from another's.
    """

    def __init__(self, *, shortest: float) -> None:
        """Prepares a watch.

        Args:
            shortest: Seconds that every wait lasts at least, unless its deadline is fixed.
        """
        self._loop = asyncio.get_running_loop()
        self._shortest = shortest
        self._deadline: float | None = None
        self._fired = False
        self._timer: asyncio.Handle | None = None
        self._looks_at = 0.0  # uvloop's timers do not know when, if they are due at once
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a stream is read by a task")
        self._task = task
        self._cancelling = task.cancelling()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def wait_until(self, deadline: float) -> None:
        """Begins a wait that ends at this time of the loop's clock, in seconds."""
        self._deadline = deadline
        if self._timer is None or self._looks_at > deadline:
            self._sleep_until(deadline)

    def arrived(self) -> None:
        """Ends the wait for the provider, since something came.

        Raises:
            CancelledError: It came too late, and whoever was awaited swallowed the cancellation.
        """
        self._deadline = None
        if self._fired:
            raise asyncio.CancelledError

    def expired(self) -> bool:
        """Whether a CancelledError that was just raised is only this watch's own.

        It then no longer counts as a cancellation of the task. A cancellation from outside that
        came at the same time wins.
        """
        self._deadline = None
        if not self._fired:
            return False
        self._fired = False
        return self._task.uncancel() <= self._cancelling

    def _sleep_until(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(when, self._look)
        self._looks_at = when

    def _look(self) -> None:
        self._timer = None
        now = self._loop.time()
        if self._deadline is None:
            self._sleep_until(now + self._shortest)
        elif self._deadline <= now:
            self._fired = True
            self._task.cancel()
        else:
            self._sleep_until(self._deadline)


T = TypeVar("T")


class Ticker(Generic[T]):
    """Calls a function with all that have joined since the last tick; none joined, none ticks.

    A timer for each of many streams wakes the event loop for each of them; one for all wakes it
    once, and they are served while the processor's caches are warm.
    """

    def __init__(self, seconds: float, serve: Callable[[Sequence[T]], None]) -> None:
        """Prepares a ticker.

        Args:
            seconds: From the first that joins to the tick.
            serve: Called in the event loop of those that joined.
        """
        self._seconds = seconds
        self._serve = serve
        self._waiting: WeakKeyDictionary[asyncio.AbstractEventLoop, list[T]] = WeakKeyDictionary()

    def join(self, member: T, loop: asyncio.AbstractEventLoop) -> None:
        """Waits for the next tick of the loop; there is no way to leave.

        The loop is given, since asking for the running one is a system call (Python 3.11).
        """
        waiting = self._waiting.get(loop)
        if waiting is None:
            waiting = self._waiting[loop] = []
            loop.call_later(self._seconds, self._tick, loop)
        waiting.append(member)

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self._serve(self._waiting.pop(loop))


class SharedSleep:
    """A sleep from which all tasks that share it wake at the same tick."""

    def __init__(self, seconds: float) -> None:
        self._ticker: Ticker[asyncio.Future[None]] = Ticker(seconds, _wake)

    async def wait(self, loop: asyncio.AbstractEventLoop) -> None:
        """Returns at the next tick of the loop, which is the running one."""
        next_tick = loop.create_future()
        self._ticker.join(next_tick, loop)
        await next_tick


class LoopTurns:
    """Lets what takes long go one after the other, each in a turn of the event loop of its own.

    Many streams that read a lot at the same tick would keep everybody else waiting for all of them.
    """

    def __init__(self) -> None:
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = (
            WeakKeyDictionary()
        )

    async def wait(self, loop: asyncio.AbstractEventLoop) -> None:
        """Returns in a turn of the loop, which is the running one, in which nobody else returns."""
        lock = self._locks.get(loop)
        if lock is None:
            lock = self._locks[loop] = asyncio.Lock()
        async with lock:
            await asyncio.sleep(0)


def _wake(waiting: Sequence[asyncio.Future[None]]) -> None:
    for one in waiting:
        if not one.done():  # it is, when the task that waited was cancelled
            one.set_result(None)
