"""Graceful shutdown: streams may finish for COPILOT_DRAIN_S, the rest ends with a terminal event.

uvicorn stops listening at SIGTERM, then waits. A single server has to go on listening to answer
`/readyz` with 503 and new requests with a sentence, so uvicorn's handler is called after the drain.
A worker stops listening at once: the others get the new connections.
"""

import asyncio
from collections.abc import Callable
from functools import partial
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
            signal.signal(number, partial(shutdown.on_signal, stop_server))
    if shutdown.is_worker:
        threading.Thread(target=_terminate_with_supervisor, daemon=True).start()


class GracefulShutdown:
    """Reacts to signals: the first one drains, a second one interrupts what still runs."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.is_worker = multiprocessing.parent_process() is not None
        self._loop = loop
        self._has_begun = False
        self._interrupt_now = asyncio.Event()

    def on_signal(self, stop_server: Handler, number: int, _frame: FrameType | None) -> None:
        """Begin in the event loop; `stop_server` is uvicorn's handler."""
        if not self._has_begun:
            self._has_begun = True
            shut_down = self._stop_worker if self.is_worker else self._drain_server
            work = shut_down(stop_server, number)
            self._loop.call_soon_threadsafe(partial(spawn, work, name="drain"))
        elif not self.is_worker:  # Ctrl-C reaches a worker twice: also through its supervisor
            self._loop.call_soon_threadsafe(self._interrupt_now.set)

    async def _drain_server(self, stop_server: Handler, number: int) -> None:
        start_draining()
        await drain(settings.DRAIN_SECONDS, self._interrupt_now)
        stop_server(number, None)

    async def _stop_worker(self, stop_server: Handler, number: int) -> None:
        server = getattr(stop_server, "__self__", None)  # the handler is a method of the server
        for listener in getattr(server, "servers", ()):
            listener.close()
        await asyncio.sleep(LATE_REQUEST_SECONDS)
        stop_server(number, None)
        await asyncio.sleep(settings.DRAIN_SECONDS - LATE_REQUEST_SECONDS)
        await interrupt_all()
        await stop_all()


async def drain(timeout_seconds: float, interrupt_now: asyncio.Event) -> None:
    """Wait for runs and component calls until the timeout or the event, then interrupt the rest."""
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
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
