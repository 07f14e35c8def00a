"""An event loop whose clock jumps: hours of waiting pass at once."""

import asyncio
from collections.abc import Coroutine
import selectors
from typing import Any, TypeVar

_Result = TypeVar("_Result")


class _JumpingSelector(selectors.DefaultSelector):
    """Never waits: it adds the time it should have waited to the clock."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "everything waits for something that never happens"
            self.now += timeout
        return ready


class _JumpingLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def run_at_once(coroutine: Coroutine[Any, Any, _Result]) -> _Result:
    """Runs a coroutine that waits for timers only."""
    with asyncio.Runner(loop_factory=_JumpingLoop) as runner:
        return runner.run(coroutine)
