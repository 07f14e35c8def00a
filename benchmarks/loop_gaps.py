"""Sends large questions one after another and prints the longest time that nobody else was served.

For each class: how long its answer took, the longest gap of the server's event loop, that of a
bystander's answer and of its polls of `/healthz`, and where the loop was. What others on the machine
took is counted off ("own"): it is at most the CPU that the server used in the gap. A class that
stops the loop longer than 50 ms on its own account fails the program.
"""

from argparse import ArgumentParser
import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
import sys
import tempfile
import time

import uvloop

from benchmarks import servers
from benchmarks.keeping import fetch
from benchmarks.loop_bodies import QUESTIONS, Make, encoded
from benchmarks.loop_watch import Gap, gaps_in
from benchmarks.processes import Process, away_from_the_server, running
from benchmarks.script import Script
from benchmarks.servers import Installation
from benchmarks.table import table
from benchmarks.walls.bystander import Sample, bystander
from benchmarks.walls.copilots import copilot_file
from benchmarks.walls.memory import memory_of
from benchmarks.walls.sending import exchange, head
from benchmarks.walls.strangers import strangers

MOST_SECONDS = 0.05
MOST_BYTES = 400 * 1024 * 1024
REST_SECONDS = 0.5  # after a question: what it left behind counts as well
HEAD = (
    "class",
    "status",
    "seconds",
    "loop, ms",
    "own",
    "gc",
    "answer",
    "own",
    "poll",
    "own",
    "MB",
    "",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A class that was sent."""

    name: str
    status: int
    began: float
    ended: float
    loop: Gap
    bytes: int
    seconds: float

    @property
    def kept(self) -> bool:
        """Whether others were served meanwhile, and the memory kept."""
        return self.loop.own <= MOST_SECONDS and self.bytes <= MOST_BYTES


def main(arguments: Sequence[str]) -> int:
    """Sends, prints the table; returns the status of the process."""
    parser = ArgumentParser(prog="python -m benchmarks.loop_gaps", description=__doc__)
    parser.add_argument("--only", action="append", choices=list(QUESTIONS), help="may be repeated")
    parser.add_argument("--times", type=int, default=2, help="each class; the worst counts")
    options = parser.parse_args(arguments)
    chosen = {name: QUESTIONS[name] for name in options.only or QUESTIONS}
    with away_from_the_server():
        rows, gaps, polls = uvloop.run(_measured(chosen, times=options.times))
    print(told(rows, gaps=gaps, polls=polls))
    broken = [row.name for row in rows if not row.kept]
    print(f"not kept: {', '.join(broken)}" if broken else "all kept")
    return int(bool(broken))


def told(rows: Sequence[Row], *, gaps: Sequence[Sample], polls: Sequence[Sample]) -> str:
    """The table: a line for each class with its longest gaps."""
    lines = [
        (
            *(row.name, str(row.status), f"{row.seconds:.1f}"),
            *_ms(row.loop),
            f"{row.loop.gc * 1000:.0f}",
            *_ms(longest(gaps, row)),
            *_ms(longest(polls, row)),
            *(f"{row.bytes / 2**20:.0f}", row.loop.where),
        )
        for row in rows
    ]
    return table([HEAD, *lines])


def longest(samples: Sequence[Sample], row: Row) -> Sample:
    """The longest wait that overlapped the time of a class."""
    during = (one for one in samples if one.at < row.ended and one.at + one.seconds > row.began)
    return max(during, key=lambda one: one.own, default=Sample(row.began, 0.0))


def _ms(wait: Gap | Sample) -> tuple[str, str]:
    return f"{wait.seconds * 1000:.0f}", f"{wait.own * 1000:.0f}"


async def _measured(
    chosen: Mapping[str, Make], *, times: int
) -> tuple[Sequence[Row], Sequence[Sample], Sequence[Sample]]:
    with watched() as (process, upstream, file):
        async with bystander(process, upstream) as seen:
            rows = [await _sent(process, file, one, times=times) for one in chosen.items()]
    [saw] = seen
    for problem in saw.problems:
        print(f"the bystander: {problem}")
    return rows, saw.gaps, saw.polls


async def _sent(process: Process, file: Path, one: tuple[str, Make], *, times: int) -> Row:
    """Sends a class; each time on a connection of its own."""
    name, make = one
    slug, value = make()
    body = encoded(value)
    length = {"Content-Length": str(len(body)), "Content-Type": "application/json"}
    first = head("POST", f"/v1/copilots/{slug}/query", length)
    began, status, seconds = time.monotonic(), 0, 0.0
    with memory_of(process) as memory:
        for _ in range(times):
            sent = time.monotonic()
            status = (await exchange(process.port, first, [body])).status
            seconds = max(seconds, time.monotonic() - sent)
            await asyncio.sleep(REST_SECONDS)
    ended = time.monotonic()
    gaps = [gap for gap in gaps_in(file) if began <= gap.at < ended]
    return Row(
        name=name,
        status=status,
        began=began,
        ended=ended,
        loop=max(gaps, key=lambda gap: gap.own, default=Gap(began, 0.0)),
        bytes=memory.largest,
        seconds=seconds,
    )


@contextmanager
def watched() -> Iterator[tuple[Process, Process, Path]]:
    """A server that watches its loop, the bystander's model, and the file with the gaps."""
    with servers.upstream() as model, strangers() as hosts, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "gaps"
        file.touch()
        copilots = copilot_file(servers.base_url(model), f"http://127.0.0.1:{hosts.port}/v1")
        with servers.installation(
            model, file=copilots, variables={"COPILOT_FETCH_ALLOW": "127.0.0.1"}
        ) as installed:
            program = ("-m", "benchmarks.loop_watch", str(file))
            with running(installed.start(program)) as process:
                fetch(process, Installation.path, Script(chunks=3, every_ms=0).body)  # warm-up
                yield process, model.process, file


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
