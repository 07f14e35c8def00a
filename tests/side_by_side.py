"""Runs commands beside each other; what one prints is kept together, and printed when it ends.

`python -m tests.side_by_side "ruff check ." mypy` is for the Makefile. The last command takes the
longest, so its output is shown as it comes. All of them run to their ends, whatever the others do.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
import os
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
    failed = run([Command(line, shlex.split(line)) for line in lines])
    print(f"FAILED: {', '.join(failed)}" if failed else "All checks passed.", flush=True)
    return int(bool(failed))


def run(commands: Sequence[Command]) -> list[str]:
    """Runs commands beside each other, all of them.

    Returns:
        The names of those that failed, in the order of the commands.
    """
    failed = set()
    for ended in _in_the_order_of_their_ends(commands):
        verdict = f"failed ({ended.status})" if ended.status else "passed"
        print(f"\n== {ended.name}: {verdict}\n{ended.output}", end="", flush=True)
        if ended.status:
            failed.add(ended.name)
    return [command.name for command in commands if command.name in failed]


def _in_the_order_of_their_ends(commands: Sequence[Command]) -> Iterator[Ended]:
    with ThreadPoolExecutor(max_workers=len(commands)) as threads:
        started = [
            threads.submit(_run, command, shown=command is commands[-1]) for command in commands
        ]
        for ended in as_completed(started):
            yield ended.result()


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
