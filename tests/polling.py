"""Waiting for what happens, however long a busy machine takes for it."""

import asyncio
from collections.abc import Callable
import threading
from time import monotonic  # some tests give the module `time` a clock of their own

HANGS_SECONDS = 60.0  # what takes longer never happens: no test fails sooner because of time
_LOOK_SECONDS = 0.01


def eventually(condition: Callable[[], object]) -> bool:
    """Whether something becomes true before it has to be taken for hanging."""
    end, pause = monotonic() + HANGS_SECONDS, threading.Event()
    while not condition():
        if monotonic() > end:
            return False
        pause.wait(_LOOK_SECONDS)
    return True


async def comes_true(condition: Callable[[], object]) -> None:
    """Waits for what nobody tells, as `eventually`, without keeping other threads from bringing it about.

    Raises:
        TimeoutError: It has to be taken for hanging.
    """
    async with asyncio.timeout(HANGS_SECONDS):
        while not condition():  # noqa: ASYNC110  # nobody tells it
            await asyncio.sleep(_LOOK_SECONDS)
