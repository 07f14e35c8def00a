"""Requests for the same value share one read, if it started after they arrived.

Every Workspace that is opened asks for the same document; in the morning hundreds do in one moment.
Nobody is given what was read before he asked, so a copilot that was just published is in it.
"""

import asyncio
from collections.abc import Callable, Hashable
from functools import partial
from typing import Generic, TypeVar

from copilot_admin.runs.tasks import spawn
from copilot_admin.storage.writer import READER

T = TypeVar("T")


class SharedReading(Generic[T]):
    """Readings that have not begun, by what is wanted; used in one event loop at a time."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, asyncio.Task[T]] = {}

    async def of(self, wanted: Hashable, read: Callable[[], T]) -> T:
        """Value read for this request and others that wait for the same.

        Args:
            wanted: All that the result depends on besides the database.
            read: Is called on the reader's thread.

        Raises:
            DatabaseUnavailable: The database takes no more work at the moment.
        """
        reading = self._waiting.get(wanted)
        if reading is None or reading.get_loop() is not asyncio.get_running_loop():
            reading = spawn(READER.run(partial(self._begin, wanted, read)), name="shared reading")
            self._waiting[wanted] = reading
            reading.add_done_callback(partial(self._forget, wanted))
        return await asyncio.shield(reading)

    def _begin(self, wanted: Hashable, read: Callable[[], T]) -> T:
        self._waiting.pop(wanted, None)  # who comes from now on is to see what changes from now on
        return read()

    def _forget(self, wanted: Hashable, reading: asyncio.Task[T]) -> None:
        if self._waiting.get(wanted) is reading:
            del self._waiting[wanted]
