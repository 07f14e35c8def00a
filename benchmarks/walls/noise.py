"""How much of a wait was the machine's: processes were ready to run, and others ran.

Linux counts for each thread how long it was ready and did not run (/proc/PID/task/TID/schedstat).
What others took of a wait is taken off it, as far as the processes did not use the time themselves.
So a figure means the same on a busy machine and on a quiet one.
"""

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
import os
from pathlib import Path
import time

from benchmarks.processes import cpu_seconds_of

EVERY_SECONDS = 0.05
_NANOSECONDS = 1e9


@dataclass(frozen=True, slots=True)
class Look:
    """What processes have used so far.

    Attributes:
        at: When it was looked, by the monotonic clock.
        ran: Seconds of CPU, by the id of the process.
        ready: Seconds in which threads of any of them were ready and did not run.
    """

    at: float
    ran: Mapping[int, float]
    ready: float


@dataclass(slots=True)
class Noise:
    """Looks at processes again and again, and says afterwards what a wait was made of.

    Attributes:
        processes: Gives those that are there at the moment.
    """

    processes: Callable[[], Iterable[int]]
    looks: list[Look] = field(default_factory=list)
    _ready: float = 0.0
    _threads: dict[str, int] = field(default_factory=dict)  # nanoseconds at the last look

    async def watch(self, until: asyncio.Event) -> None:
        """Looks until the event is set."""
        while not until.is_set():
            self.look()
            await asyncio.sleep(EVERY_SECONDS)
        self.look()

    def look(self) -> None:
        """Looks once; a thread that was made and ended since the last time is missed."""
        processes = list(self.processes())
        threads = {name: ready for one in processes for name, ready in _ready_of(one)}
        more = (ready - self._threads.get(name, 0) for name, ready in threads.items())
        self._ready += sum(more) / _NANOSECONDS
        self._threads = threads
        ran = {one: cpu_seconds_of(one) for one in processes}
        self.looks.append(Look(time.monotonic(), ran, self._ready))

    def own(self, began: float, seconds: float) -> float:
        """What of a wait the processes themselves are to blame for.

        It is what is left when the time is taken off in which they were ready and others ran, and
        never less than the time that one of them has run.
        """
        times = [look.at for look in self.looks]
        first = max(bisect_right(times, began) - 1, 0)
        last = min(bisect_right(times, began + seconds), len(times) - 1)
        if last <= first:
            return seconds
        before, after = self.looks[first], self.looks[last]
        share = min(seconds / (after.at - before.at), 1.0)
        ran = max(after.ran[one] - before.ran.get(one, 0.0) for one in after.ran)
        left = seconds - (after.ready - before.ready) * share
        return min(seconds, max(ran * share, left))


def let_go_first(process: int) -> None:
    """Lets a process of one thread run as soon as it is ready, where this one may say so.

    What is told of a wait then leaves out what the measurement itself waits for: while the one who
    waits is kept from his core, a server may do much for others for which he does not wait.
    """
    with suppress(OSError):  # for this one needs to be root
        os.sched_setscheduler(process, os.SCHED_FIFO, os.sched_param(1))


def _ready_of(process: int) -> Iterable[tuple[str, int]]:
    """Nanoseconds that each thread of a process was ready and did not run."""
    found = []
    with suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            with suppress(OSError):
                found.append((thread.name, int((thread / "schedstat").read_text().split()[1])))
    return found
