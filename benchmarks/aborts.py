"""Clients that leave in mid-stream: the upstream is left at once, and nothing of them remains.

`python -m benchmarks.aborts --count 1000`.
"""

import asyncio
from dataclasses import dataclass
from random import Random
import sys
import time

import uvloop

from benchmarks import servers
from benchmarks.client import Line, ask, call
from benchmarks.options import deployment_in, fault_options
from benchmarks.processes import away_from_the_server, running
from benchmarks.script import Script
from benchmarks.servers import SMALL, Deployment, Installation, Target
from benchmarks.stats import stats
from benchmarks.stored import outcomes, settled, stored_runs
from benchmarks.table import table

AT_ONCE = 50
LONG = Script(chunks=4000, every_ms=15)  # a minute: whoever hears its end did not leave
MOST_SECONDS = 1.0  # from the client's leaving to the upstream's
SILENCE_SECONDS = 0.1  # a question that was under way may reach the upstream yet
POLLS = 10_000
# Kept-alive connections to the upstream, the database and its log: not one for each client.
SPARE_FILES = 10


@dataclass(frozen=True, slots=True)
class Left:
    """What leaving did."""

    asked: int
    slowest: float  # seconds until the upstream was left
    files_more: int
    outcomes: dict[str, int]
    problems: tuple[str, ...]


def leave_again_and_again(*, count: int, random: Random, deployment: Deployment = SMALL) -> Left:
    """Asks so many questions and hangs up on all of them."""
    with (
        servers.upstream() as model,
        servers.installation(model, deployment) as installed,
        running(installed.start()) as process,
    ):
        target = Target(process, Installation.path)
        uvloop.run(_ask_politely(target))
        files = process.open_files()
        slowest = uvloop.run(_leave(target, model, count=count, random=random))
        problems = settled(installed)
        more = process.open_files() - files
        ways = outcomes(stored_runs(installed))
    if more > SPARE_FILES:
        problems.append(f"{more} files more are open than before")
    if ways.get("completed", 0) != AT_ONCE or set(ways) - {"completed", "cancelled"}:
        problems.append(f"runs ended as {ways}")
    return Left(count, slowest, more, ways, tuple(problems))


async def _ask_politely(target: Target) -> None:
    """As many as will leave at once listen to the end: every connection that is kept is there."""
    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(ask(target, Script(chunks=10)))


async def _leave(target: Target, model: Target, *, count: int, random: Random) -> float:
    """Groups ask within half a second and leave at one moment: before the first words, or after."""
    slowest = 0.0
    for start in range(0, count, AT_ONCE):
        pauses = [random.uniform(0, 0.5) for _ in range(min(AT_ONCE, count - start))]
        lines = await asyncio.gather(*(_ask_later(target, pause) for pause in pauses))
        for line in lines:
            line.transport.abort()
        slowest = max(slowest, await _until_silent(model))
    return slowest


async def _ask_later(target: Target, pause: float) -> Line:
    await asyncio.sleep(pause)
    return await call(target, LONG)


async def _until_silent(model: Target) -> float:
    """Seconds until the upstream speaks to nobody any more, for a while."""
    began = silent_since = time.perf_counter()
    for _ in range(POLLS):
        if (await stats(model)).open:
            silent_since = time.perf_counter()
        elif time.perf_counter() - silent_since > SILENCE_SECONDS:
            break
        await asyncio.sleep(0.005)
    return silent_since - began


def main(arguments: list[str]) -> int:
    """Leaves as often as asked; returns the status of the process."""
    parser = fault_options("aborts", __doc__)
    parser.add_argument("--count", type=int, default=1000)
    options = parser.parse_args(arguments)
    with away_from_the_server():
        left = leave_again_and_again(
            count=options.count, random=Random(options.seed), deployment=deployment_in(options)
        )
    rows = [
        ("clients that left", str(left.asked)),
        ("upstream left after at most, s", f"{left.slowest:.2f}"),
        ("open files more than before", str(left.files_more)),
        *((f"run {way}", str(number)) for way, number in left.outcomes.items()),
    ]
    print(table(rows))
    problems = list(left.problems)
    if left.slowest > MOST_SECONDS:
        problems.append(f"the upstream was left after {left.slowest:.1f} seconds")
    print(*(f"FAIL  {problem}" for problem in problems), sep="\n")
    print("FAIL" if problems else "PASS  nothing remains of who left")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
