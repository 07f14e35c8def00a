"""Goes down without cutting answers: the first SIGTERM drains, then the server's own handler runs.

A server alone cannot do it: uvicorn closes its sockets first and then waits, or cancels. So its
handler is called last, when no run is left. A worker with colleagues leaves the new connections to
them first, and refuses nothing; one that is alone refuses questions in words.
"""

import asyncio
from collections.abc import Callable
import logging
import multiprocessing
import signal
import sys
import threading
from types import FrameType

from django.conf import settings
import uvicorn

from copilot_admin.answering.open_run import interrupt_all, is_draining, start_draining
from copilot_admin.answering.run import RUNNING
from copilot_admin.answering.tasks import spawn
from copilot_admin.component_calls.call import CALLS, stop_all
from copilot_admin.server.listening import colleagues_take_over, leave

SIGNALS = (signal.SIGTERM, signal.SIGINT)

Handler = Callable[[int, FrameType | None], object]

logger = logging.getLogger(__name__)


def drain_on_signal() -> None:
    """Puts the drain before the handlers that the server has installed."""
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may handle signals: a server inside a test has none
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        previous = signal.getsignal(number)
        if callable(previous):
            signal.signal(number, _chained(previous, loop))
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, _hung_up)


def _hung_up(number: int, frame: FrameType | None) -> None:
    """Goes down with its terminal; `systemctl reload` of a server that has no workers does nothing."""
    if multiprocessing.parent_process() is not None:
        return  # its supervisor hears it
    if sys.stdin is not None and sys.stdin.isatty():
        signal.raise_signal(signal.SIGTERM)
        return
    logger.warning(
        "SIGHUP replaces the workers of a server that has several. This one goes on as it is: "
        "restart it, or start it with --workers 2."
    )


def _chained(previous: Handler, loop: asyncio.AbstractEventLoop) -> Handler:
    was_asked = False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal was_asked
        if was_asked or is_draining():  # asked twice: whoever asks means now
            previous(number, frame)
            return
        was_asked = True
        server = _server_behind(previous)
        if server is None:
            start_draining()
        loop.call_soon_threadsafe(_start, lambda: previous(number, frame), server)

    return handle


def _server_behind(handler: Handler) -> uvicorn.Server | None:
    """The server whose handler this is, if other workers share its sockets.

    uvicorn's handler is a method of its server: the only way from an application to the sockets.
    """
    server = getattr(handler, "__self__", None)
    return server if isinstance(server, uvicorn.Server) and colleagues_take_over(server) else None


def _start(then: Callable[[], object], server: uvicorn.Server | None) -> None:
    spawn(_leave_and_drain(then, server), name="drain")


async def _leave_and_drain(then: Callable[[], object], server: uvicorn.Server | None) -> None:
    if server is not None:
        await leave(server)  # and refuses nobody: what comes all the same is answered
    await drain(then, seconds=settings.DRAIN_SECONDS)


async def drain(then: Callable[[], object], *, seconds: float) -> None:
    """Lets running answers finish for a while, ends the rest with a sentence, then goes on.

    Args:
        then: What stops the server.
        seconds: How long answers may go on.
    """
    answering = [*(run.task for run in RUNNING), *(call.task for call in CALLS)]
    if answering:
        await asyncio.wait(answering, timeout=seconds)
    await interrupt_all()
    await stop_all()
    then()
