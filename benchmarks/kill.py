"""Kills the server in mid-stream, again and again, and looks at what the journal knows afterwards.

`python -m benchmarks.kill --times 20`. What a client saw the end of has to be there, complete; what
was cut has to say so, and to hold the text up to about a second before.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
import sys

import uvloop

from benchmarks import servers
from benchmarks.client import Heard, Line, call
from benchmarks.options import deployment_in, fault_options
from benchmarks.processes import away_from_the_server
from benchmarks.script import Script, piece
from benchmarks.servers import SMALL, Deployment, Installation, Target
from benchmarks.stored import StoredRun, settled, stored_runs, unbalanced
from benchmarks.table import table

# A checkpoint is due every second and has to be committed; a second more would be a lost one.
MOST_SECONDS_LOST = 1.9
EVERY_MS = 15.0
REFUSED = 503
PATIENCE_SECONDS = 300.0  # for answers to end, of which a quiet machine ends ten in a second


@dataclass(frozen=True, slots=True, kw_only=True)
class Killed:
    """What one kill did."""

    finished: int  # streams whose end was seen
    cut: int
    refused: int  # with words and without a run, as the machine was too busy
    unseen: int  # complete in the journal, although their client did not see the end
    seconds_lost: float  # the most text that a client saw and the journal lost
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was under way, or answered, when the server died."""

    script: Script
    heard: Heard


def kill_again_and_again(
    *, times: int, streams: int, random: Random, deployment: Deployment = SMALL
) -> list[Killed]:
    """Kills a loaded server, and starts it again over the same data."""
    killed = []
    with (
        servers.upstream() as model,
        servers.installation(model, deployment) as installed,
    ):
        process = installed.start()
        try:
            for _ in range(times):
                target = Target(process, Installation.path)
                asked = uvloop.run(_load_and_kill(target, streams=streams, random=random))
                process = installed.start()
                # Over SQLite what was cut is in order before the port opens.
                look = settled if installed.database_url else unbalanced
                problems = look(installed)
                killed.append(_look(asked, stored_runs(installed), problems))
        finally:
            process.stop()
    return killed


async def _load_and_kill(target: Target, *, streams: int, random: Random) -> list[Asked]:
    """Keeps so many answers streaming, and kills the server when some have ended."""
    asked: list[tuple[Script, Line]] = []
    still = random.randint(streams // 4, 2 * streams)  # answers that are to end before
    enough = asyncio.Event()

    async def ask_on() -> None:
        nonlocal still
        while target.process.popen.poll() is None:
            script = Script(chunks=random.randint(10, 250), every_ms=EVERY_MS)
            try:
                line = await call(target, script)
            except OSError:
                return
            asked.append((script, line))
            await line.ended
            still -= 1
            if still == 0:
                enough.set()

    async with asyncio.TaskGroup() as group:
        for _ in range(streams):
            group.create_task(ask_on())
        async with asyncio.timeout(PATIENCE_SECONDS):
            await enough.wait()
            under_way = [line.began for _, line in asked if not line.ended.done()]
            await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
        target.process.kill()
    return [Asked(script, line.heard) for script, line in asked]


def _look(asked: Sequence[Asked], runs: Mapping[str, StoredRun], problems: Sequence[str]) -> Killed:
    found = list(problems)
    finished, unseen, lost = 0, 0, [0.0]
    refused = sum(one.heard.status == REFUSED for one in asked)
    # Of those who heard nothing yet nobody knows the id.
    begun = [one for one in asked if one.heard.status not in (0, REFUSED)]
    for one in begun:
        run = runs.get(one.heard.headers["x-completion-id"].replace("-", ""))
        if run is None:
            found.append("a run that had begun to answer is not stored")
        elif one.heard.whole:
            finished += 1
            if run != StoredRun("completed", one.script.text) or one.heard.text != run.text:
                found.append(f"a finished run is stored as {run}")
        elif run.outcome == "completed" and run.text == one.script.text:
            unseen += 1
        elif run.outcome != "interrupted" or not one.script.text.startswith(run.text):
            found.append(f"a cut run is stored as {run}")
        else:
            lost.append(_seconds(one.heard.text) - _seconds(run.text))
    return Killed(
        finished=finished,
        cut=len(begun) - finished,
        refused=refused,
        unseen=unseen,
        seconds_lost=max(lost),
        problems=tuple(found),
    )


def _seconds(text: str) -> float:
    return len(text) / len(piece(0)) * EVERY_MS / 1000


def main(arguments: list[str]) -> int:
    """Kills as often as asked; returns the status of the process."""
    parser = fault_options("kill", __doc__)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--streams", type=int, default=40)
    options = parser.parse_args(arguments)
    with away_from_the_server():
        killed = kill_again_and_again(
            times=options.times,
            streams=options.streams,
            random=Random(options.seed),
            deployment=deployment_in(options),
        )
    head = (
        "kill",
        "finished",
        "cut",
        "refused",
        "finished unseen",
        "most text lost, s",
        "problems",
    )
    rows = [
        (
            str(number),
            str(one.finished),
            str(one.cut),
            str(one.refused),
            str(one.unseen),
            f"{one.seconds_lost:.2f}",
            str(len(one.problems)),
        )
        for number, one in enumerate(killed, 1)
    ]
    print(table([head, *rows]))
    problems = [problem for one in killed for problem in one.problems]
    problems += [
        f"{one.seconds_lost:.1f} seconds of an answer are lost"
        for one in killed
        if one.seconds_lost > MOST_SECONDS_LOST
    ]
    print(*(f"FAIL  {problem[:300]}" for problem in problems), sep="\n")
    print("FAIL" if problems else "PASS  no finished run was lost, every cut one says so")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
