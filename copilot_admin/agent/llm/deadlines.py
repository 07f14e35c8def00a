"""Ends the wait for a provider that is silent for too long, with one timer a stream."""

import asyncio
from types import TracebackType
from typing import Self


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
