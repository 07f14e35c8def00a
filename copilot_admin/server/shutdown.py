"""Goes down without cutting answers: the first SIGTERM drains, then the server's own handler runs.

A server alone cannot do it: uvicorn closes its sockets first and then waits, or cancels. So its
handler is called last, when no run is left. A worker with colleagues leaves the new connections to
them first, and refuses nothing; one that is alone refuses questions in words.
"""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
import logging
import multiprocessing
import signal
import sys
import threading
from types import FrameType

from django.conf import settings
import uvicorn

from copilot_admin.component_calls.call import CALLS, stop_all
from copilot_admin.runs.open_run import interrupt_all, is_draining, start_draining
from copilot_admin.runs.run import RUNNING
from copilot_admin.runs.tasks import spawn
from copilot_admin.server.listening import colleagues_take_over, leave
from copilot_admin.server.worker_process import END_AT_ONCE

SIGNALS = (signal.SIGTERM, signal.SIGINT)
# After the second signal. What was interrupted is written in a moment, and whoever waits for the database is
# told within 4 s (DATABASE_WAIT_SECONDS): with 2 s five of forty clients got a bare 500. Nobody else is waited for.
AT_ONCE_SECONDS = 5

Handler = Callable[[int, FrameType | None], object]

logger = logging.getLogger(__name__)


def drain_on_signal() -> None:
    """Puts the drain before the handlers that the server has installed."""
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may handle signals: a server inside a test has none
    ending = _Ending(asyncio.get_running_loop())
    for number in SIGNALS:
        previous = signal.getsignal(number)
        if callable(previous):
            signal.signal(number, ending.handler(previous))
            if number == signal.SIGTERM and _is_worker():
                signal.signal(END_AT_ONCE, ending.at_once(previous))
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, _hung_up)


def _is_worker() -> bool:
    """Whether a supervisor started this process."""
    return multiprocessing.parent_process() is not None


def _hung_up(number: int, frame: FrameType | None) -> None:
    """Goes down with its terminal; `systemctl reload` of a server that has no workers does nothing."""
    if _is_worker():
        return  # its supervisor hears it
    if sys.stdin is not None and sys.stdin.isatty():
        signal.raise_signal(signal.SIGTERM)
        return
    logger.warning(
        "SIGHUP replaces the workers of a server that has several. This one goes on as it is: "
        "restart it, or start it with --workers 2."
    )


class _Ending:
    """What a process was told of its end: first to drain, then to end at once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._hurry = asyncio.Event()
        self._was_asked = False

    def handler(self, previous: Handler) -> Handler:
        """Drains before the handler of the server; asked twice, whoever asks means now.

        Not of a worker: a signal to a whole group of processes reaches it twice, once by its
        supervisor, who hears a second one too and passes that on in its own way.
        """

        def handle(number: int, frame: FrameType | None) -> None:
            if not (self._was_asked or is_draining()):
                self._was_asked = True
                server = _server_behind(previous)
                if server is None:
                    start_draining()
                then = partial(previous, number, frame)
                self._loop.call_soon_threadsafe(self._start, then, server)
            elif not _is_worker():
                self.at_once(previous)(number, frame)

        return handle

    def at_once(self, previous: Handler) -> Handler:
        """Ends what is being answered with its sentence, and keeps it; waits for nothing else."""

        def handle(number: int, frame: FrameType | None) -> None:
            self._was_asked = True
            self._loop.call_soon_threadsafe(self._hurry.set)
            server = getattr(previous, "__self__", None)
            if isinstance(server, uvicorn.Server):  # for uploads and readers that take their time
                server.config.timeout_graceful_shutdown = AT_ONCE_SECONDS
            previous(number, frame)

        return handle

    def _start(self, then: Callable[[], object], server: uvicorn.Server | None) -> None:
        spawn(self._leave_and_drain(then, server), name="drain")

    async def _leave_and_drain(
        self, then: Callable[[], object], server: uvicorn.Server | None
    ) -> None:
        if server is not None:
            await leave(server)  # and refuses nobody: what comes all the same is answered
        await drain(then, seconds=settings.DRAIN_SECONDS, hurry=self._hurry)


def _server_behind(handler: Handler) -> uvicorn.Server | None:
    """The server whose handler this is, if other workers share its sockets.

    uvicorn's handler is a method of its server: the only way from an application to the sockets.
    """
    server = getattr(handler, "__self__", None)
    return server if isinstance(server, uvicorn.Server) and colleagues_take_over(server) else None


async def drain(
    then: Callable[[], object], *, seconds: float, hurry: asyncio.Event | None = None
) -> None:
    """Lets running answers finish for a while, ends the rest with a sentence, then goes on.

    Args:
        then: What stops the server.
        seconds: How long answers may go on.
        hurry: Set when they may not go on any longer.
    """
    answering = [*(run.task for run in RUNNING), *(call.task for call in CALLS)]
    if answering:
        await _ended_or(hurry or asyncio.Event(), answering, seconds=seconds)
    await interrupt_all()
    await stop_all()
    then()


async def _ended_or(
    hurry: asyncio.Event, answering: Iterable[asyncio.Task[None]], *, seconds: float
) -> None:
    """Waits until all have ended, or nobody waits for them any more."""
    ends = asyncio.ensure_future(asyncio.wait(set(answering)))
    hurried = asyncio.ensure_future(hurry.wait())
    await asyncio.wait({ends, hurried}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for waiting in (ends, hurried):
        waiting.cancel()
