"""Graceful shutdown: streams may finish for COPILOT_DRAIN_S, the rest ends with a terminal event.

uvicorn stops listening at SIGTERM, then waits. A single server has to go on listening to answer
`/readyz` with 503 and new requests with a sentence, so uvicorn's handler is called after the drain.
A worker stops listening at once: the others get the new connections.
"""

import asyncio
from collections.abc import Callable
import multiprocessing
import os
import signal
import threading
from types import FrameType
from typing import TypeAlias

from django.conf import settings

from copilot_admin.component_calls.call import CALLS, stop_all
from copilot_admin.runs.open_run import interrupt_all, start_draining
from copilot_admin.runs.run import RUNNING
from copilot_admin.runs.tasks import spawn

Handler: TypeAlias = Callable[[int, FrameType | None], object]
SIGNALS = (signal.SIGTERM, signal.SIGINT)
# A client whose connection was accepted just before the worker stopped listening has so long to send
# its request; uvicorn would close the connection at once.
LATE_REQUEST_SECONDS = 1.0


def install_signal_handlers() -> None:
    """Drain on SIGTERM and SIGINT, before uvicorn's own handlers stop the server."""
    if threading.current_thread() is not threading.main_thread():
        return  # a server inside a test; only the main thread may handle signals
    shutdown = GracefulShutdown(asyncio.get_running_loop())
    for number in SIGNALS:
        stop_server = signal.getsignal(number)
        if callable(stop_server):
            shutdown.handle(number, stop_server)
    if multiprocessing.parent_process() is not None:
        threading.Thread(target=_terminate_with_supervisor, daemon=True).start()


class GracefulShutdown:
    """Reacts to signals: the first one drains, a second one interrupts what still runs."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._is_worker = multiprocessing.parent_process() is not None
        self._has_begun = False
        self._interrupt_now = asyncio.Event()

    def handle(self, number: signal.Signals, stop_server: Handler) -> None:
        """Put the drain in front of uvicorn's handler of a signal."""

        def on_signal(number: int, _frame: FrameType | None) -> None:
            if not self._has_begun:
                self._has_begun = True
                self._loop.call_soon_threadsafe(self._start, number, stop_server)
            elif not self._is_worker:  # Ctrl-C reaches a worker twice: also through its supervisor
                self._loop.call_soon_threadsafe(self._interrupt_now.set)

        signal.signal(number, on_signal)

    def _start(self, number: int, stop_server: Handler) -> None:
        shut_down = self._stop_worker if self._is_worker else self._drain_server
        spawn(shut_down(number, stop_server), name="drain")

    async def _drain_server(self, number: int, stop_server: Handler) -> None:
        start_draining()
        await drain(settings.DRAIN_SECONDS, self._interrupt_now)
        stop_server(number, None)

    async def _stop_worker(self, number: int, stop_server: Handler) -> None:
        """Uvicorn waits for the streams; this only interrupts those that take too long."""
        server = getattr(
            stop_server, "__self__", None
        )  # the handler is a method of uvicorn's server
        for listener in getattr(server, "servers", ()):
            listener.close()
        await asyncio.sleep(LATE_REQUEST_SECONDS)
        stop_server(number, None)
        await asyncio.sleep(settings.DRAIN_SECONDS - LATE_REQUEST_SECONDS)
        await interrupt_all()
        await stop_all()


async def drain(timeout_seconds: float, interrupt_now: asyncio.Event) -> None:
    """Wait until runs and component calls have ended, then interrupt the rest.

    Args:
        timeout_seconds: How long they may go on.
        interrupt_now: Ends the wait.
    """
    running = {*(run.task for run in RUNNING), *(call.task for call in CALLS)}
    if running:
        ended = asyncio.ensure_future(asyncio.wait(running))
        interrupted = asyncio.ensure_future(interrupt_now.wait())
        await asyncio.wait(
            {ended, interrupted}, timeout=timeout_seconds, return_when=asyncio.FIRST_COMPLETED
        )
        for waiting in (ended, interrupted):
            waiting.cancel()
    await interrupt_all()
    await stop_all()


def _terminate_with_supervisor() -> None:
    """End this worker when its supervisor was killed; nobody else would, and it holds the port."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
