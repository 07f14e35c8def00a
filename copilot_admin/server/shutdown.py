"""Goes down without cutting answers: the first SIGTERM drains, then the server's own handler runs.

A server alone cannot do it: uvicorn closes its sockets first and then waits, or cancels. So its
handler is called last, when no run is left.
"""

import asyncio
from collections.abc import Callable
import signal
import threading
from types import FrameType

from django.conf import settings

from copilot_admin.answering.open_run import interrupt_all, is_draining, start_draining
from copilot_admin.answering.run import RUNNING
from copilot_admin.answering.tasks import spawn
from copilot_admin.component_calls.call import CALLS, stop_all

SIGNALS = (signal.SIGTERM, signal.SIGINT)

Handler = Callable[[int, FrameType | None], object]


def drain_on_signal() -> None:
    """Puts the drain before the handlers that the server has installed."""
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may handle signals: a server inside a test has none
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        previous = signal.getsignal(number)
        if callable(previous):
            signal.signal(number, _chained(previous, loop))


def _chained(previous: Handler, loop: asyncio.AbstractEventLoop) -> Handler:
    def handle(number: int, frame: FrameType | None) -> None:
        if is_draining():  # asked twice: whoever asks means now
            previous(number, frame)
            return
        start_draining()
        loop.call_soon_threadsafe(_start, lambda: previous(number, frame))

    return handle


def _start(then: Callable[[], object]) -> None:
    spawn(drain(then, seconds=settings.DRAIN_SECONDS), name="drain")


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
