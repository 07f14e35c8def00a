"""A server that watches its own event loop.

Each time the loop comes late, a line of JSON in the file says when, how late, how much CPU the
process used meanwhile, and where the thread of the loop was (none, where another kept the lock of
the interpreter all the time).
"""

from argparse import REMAINDER, ArgumentParser
import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
import gc
import json
from pathlib import Path
import sys
import threading
import time
from types import FrameType
from typing import IO

from django.core.management import execute_from_command_line
import uvicorn

EVERY_SECONDS = 0.002
LEAST_SECONDS = 0.015  # what is noted
LATE_SECONDS = 0.03  # from here on the thread of the loop is looked at
LOOK_SECONDS = 0.005
_OURS = ("copilot_admin/", "protocol/")


@dataclass(frozen=True, slots=True)
class Gap:
    """A time in which the loop did not run.

    Attributes:
        at: When it began, by the monotonic clock, which all processes of a machine share.
        cpu: Seconds of CPU that all threads of the process used in it; what others did is not in it.
        gc: Of them, the seconds of the garbage collector.
        where: The innermost places of ours in the thread of the loop.
    """

    at: float
    seconds: float
    cpu: float = 0.0
    gc: float = 0.0
    where: str = ""

    @property
    def own(self) -> float:
        """The seconds for which the machine is not to blame."""
        return min(self.seconds, self.cpu)


class Watch:
    """Looks at a loop from within, and from a thread where it is late."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._last = time.monotonic()
        self._where = ""
        self._collecting_since: float | None = None
        self._spent = 0.0

    async def run(self) -> None:
        """Notes gaps until it is cancelled."""
        threading.Thread(target=self._look, args=(threading.get_ident(),), daemon=True).start()
        while True:
            began, cpu, collected = time.monotonic(), time.process_time(), self.collected()
            self._last, self._where = began, ""
            await asyncio.sleep(EVERY_SECONDS)
            late = time.monotonic() - began - EVERY_SECONDS
            if late >= LEAST_SECONDS:
                used = time.process_time() - cpu
                gap = Gap(began, late, used, self.collected() - collected, self._where)
                self._file.write(json.dumps(asdict(gap)) + "\n")
                self._file.flush()

    def collector(self, phase: str, info: dict[str, int]) -> None:
        """Is told by the garbage collector when it begins and ends."""
        if phase == "start":
            self._collecting_since = time.monotonic()
        else:
            self._spent, self._collecting_since = self.collected(), None

    def collected(self) -> float:
        """Seconds of the collector so far, with those of a pass under way."""
        since = self._collecting_since
        return self._spent + (time.monotonic() - since if since is not None else 0.0)

    def _look(self, loop_thread: int) -> None:
        while True:
            time.sleep(LOOK_SECONDS)
            if not self._where and time.monotonic() - self._last > LATE_SECONDS:
                # Kept in a name here, a frame keeps whatever the loop was at: a question, and its room.
                self._where = " < ".join(_places(sys._current_frames().get(loop_thread)))


def _places(frame: FrameType | None) -> Sequence[str]:
    found: list[str] = []
    root = f"{Path.cwd()}/"
    while frame is not None and len(found) < 4:
        file = frame.f_code.co_filename.removeprefix(root)
        if file.startswith(_OURS):
            found.append(f"{file}:{frame.f_lineno}")
        frame = frame.f_back
    return found


def gaps_in(file: Path) -> Sequence[Gap]:
    """What a server has noted so far."""
    return [Gap(**json.loads(line)) for line in file.read_text().splitlines()]


def main(arguments: Sequence[str]) -> None:
    """Runs a command of `manage.py` whose event loop is watched."""
    parser = ArgumentParser(prog="python -m benchmarks.loop_watch", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("command", nargs=REMAINDER, help="of manage.py, such as serve")
    options = parser.parse_args(arguments)
    watched: set[asyncio.Task[None]] = set()
    startup = uvicorn.Server.startup
    with options.file.open("a") as file:
        watch = Watch(file)

        async def watched_startup(server: uvicorn.Server, sockets: object = None) -> None:
            await startup(server, sockets)  # type: ignore[arg-type]  # handed on as it came
            watched.add(asyncio.get_running_loop().create_task(watch.run()))

        uvicorn.Server.startup = watched_startup  # type: ignore[method-assign,assignment]
        gc.callbacks.append(watch.collector)
        execute_from_command_line(["manage.py", *options.command])


if __name__ == "__main__":
    main(sys.argv[1:])
