"""Runs commands beside each other; what one prints is kept together, and printed when it ends.

`python -m tests.side_by_side "ruff check ." mypy` is for the Makefile. The last command takes the
longest, so its output is shown as it comes. All of them run to their ends, whatever the others do.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
import os
from queue import SimpleQueue
import shlex
import shutil
import subprocess
import sys

CANNOT_BE_STARTED = 127  # as shells have it


@dataclass(frozen=True, slots=True)
class Command:
    """What is run, and what of its environment is its own."""

    name: str
    arguments: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, and what it printed unless that was shown."""

    name: str
    status: int
    output: str


def main(lines: list[str]) -> int:
    """Runs commands, each a line of a shell; returns the status of the process."""
    failed = run([[Command(line, shlex.split(line))] for line in lines])
    print(f"FAILED: {', '.join(failed)}" if failed else "All checks passed.", flush=True)
    return int(bool(failed))


def run(lanes: Sequence[Sequence[Command]]) -> list[str]:
    """Runs lanes beside each other, and the commands of each one after the other, all of them.

    Returns:
        The names of those that failed, in the order of the lanes.
    """
    failed = set()
    for ended in _in_the_order_of_their_ends(lanes):
        verdict = f"failed ({ended.status})" if ended.status else "passed"
        print(f"\n== {ended.name}: {verdict}\n{ended.output}", end="", flush=True)
        if ended.status:
            failed.add(ended.name)
    return [command.name for lane in lanes for command in lane if command.name in failed]


def _in_the_order_of_their_ends(lanes: Sequence[Sequence[Command]]) -> Iterator[Ended]:
    ended: SimpleQueue[Ended] = SimpleQueue()
    with ThreadPoolExecutor(max_workers=len(lanes)) as threads:
        drives = [
            threads.submit(_drive, lane, ended, last_is_shown=lane is lanes[-1]) for lane in lanes
        ]
        for _command in range(sum(map(len, lanes))):
            yield ended.get()
    for drive in drives:
        drive.result()


def _drive(lane: Sequence[Command], ended: "SimpleQueue[Ended]", *, last_is_shown: bool) -> None:
    for command in lane:
        ended.put(_run(command, shown=last_is_shown and command is lane[-1]))


def _run(command: Command, *, shown: bool) -> Ended:
    program, *rest = command.arguments
    try:
        done = subprocess.run(
            [shutil.which(program) or program, *rest],
            env={**os.environ, **command.environment},
            stdin=subprocess.DEVNULL,
            stdout=None if shown else subprocess.PIPE,
            stderr=None if shown else subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        return Ended(command.name, CANNOT_BE_STARTED, f"{error}\n")
    return Ended(command.name, done.returncode, done.stdout or "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
