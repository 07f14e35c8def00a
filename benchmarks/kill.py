"""Kill the server in mid-stream again and again, and compare transcripts with what clients saw.

An answer whose end a client saw has to be stored completely. An answer that was cut has to say so
and to hold the text up to about a second before. `python -m benchmarks.kill --times 20`.
"""

from argparse import ArgumentParser
import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
import sys
import time

import uvloop

from benchmarks import servers
from benchmarks.client import Connection, Reply, open_question
from benchmarks.limits import format_table
from benchmarks.processes import on_load_core
from benchmarks.script import Script, piece
from benchmarks.servers import POSTGRES, SQLITE, Deployment, Installation, Target

# A checkpoint is due every second and has to be committed; a second more would be a lost one.
MAX_LOST_SECONDS = 1.9
EVERY_MS = 15.0
REJECTED = 503
LOAD_TIMEOUT_SECONDS = 300.0
# On PostgreSQL the runs of a killed process are found when their heartbeat is 30 s old.
SETTLE_TIMEOUT_SECONDS = 90.0
RUNS = (
    "SELECT run.id, run.outcome, COALESCE(NULLIF(run.answer_text, ''), node.text, '') "
    "FROM copilot_admin_run run LEFT JOIN copilot_admin_node node ON node.id = run.output_node_id"
)
Asked = Sequence[tuple[Script, Reply]]


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as the database has it."""

    outcome: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """The result of one kill."""

    finished: int  # streams whose end was seen
    cut: int
    rejected: int  # without a run, as the machine was too busy
    unseen: int  # stored completely, although their client did not see the end
    lost_seconds: float  # the most text that a client saw and the database lost
    problems: tuple[str, ...]


def kill_repeatedly(
    *, times: int, streams: int, random: Random, deployment: Deployment
) -> list[Kill]:
    """Kill a loaded server and start it again on the same data, so many times."""
    kills = []
    with servers.upstream() as model, servers.installation(model, deployment) as installed:
        process = installed.start()
        try:
            for _ in range(times):
                target = Target(process, Installation.path)
                asked = uvloop.run(_load_and_kill(target, streams=streams, random=random))
                process = installed.start()
                problems = _settle(installed)
                kills.append(_compare(asked, stored_runs(installed), problems))
        finally:
            process.stop()
    return kills


async def _load_and_kill(target: Target, *, streams: int, random: Random) -> Asked:
    """Keep so many answers streaming, and kill the server when some have ended."""
    asked: list[tuple[Script, Connection]] = []
    remaining = random.randint(streams // 4, 2 * streams)  # answers that are to end before
    enough = asyncio.Event()

    async def keep_asking() -> None:
        nonlocal remaining
        while target.process.popen.poll() is None:
            script = Script(chunks=random.randint(10, 250), every_ms=EVERY_MS)
            try:
                connection = await open_question(target, script)
            except OSError:
                return
            asked.append((script, connection))
            await connection.ended
            remaining -= 1
            if remaining == 0:
                enough.set()

    async with asyncio.TaskGroup() as group:
        for _ in range(streams):
            group.create_task(keep_asking())
        async with asyncio.timeout(LOAD_TIMEOUT_SECONDS):
            await enough.wait()
            under_way = [one.began for _, one in asked if not one.ended.done()]
            await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
        target.process.kill()
    return [(script, connection.reply) for script, connection in asked]


def stored_runs(installed: Installation) -> dict[str, StoredRun]:
    """Return all runs by the hexadecimal digits of their id."""
    return {
        str(key).replace("-", ""): StoredRun(str(outcome), str(text))
        for key, outcome, text in installed.query(RUNS)
    }


def _settle(installed: Installation) -> list[str]:
    """Wait until accepted = ended = counted; return the problems that are left."""
    end = time.monotonic() + SETTLE_TIMEOUT_SECONDS
    while (problems := _imbalances(installed)) and time.monotonic() < end:
        time.sleep(0.2)
    return problems


def _imbalances(installed: Installation) -> list[str]:
    outcomes = [run.outcome for run in stored_runs(installed).values()]
    running = outcomes.count("running")
    ((counted,),) = installed.query("SELECT COALESCE(SUM(runs), 0) FROM copilot_admin_dailyusage")
    problems = [f"{running} runs are still running"] if running else []
    if counted != len(outcomes) - running:
        problems.append(f"{len(outcomes) - running} runs have ended, {counted} were counted")
    return problems


def _compare(asked: Asked, runs: Mapping[str, StoredRun], problems: Sequence[str]) -> Kill:
    found = list(problems)
    finished, unseen, lost = 0, 0, [0.0]
    # A client that received nothing yet doesn't know the id of its run.
    begun = [(script, reply) for script, reply in asked if reply.status not in (0, REJECTED)]
    for script, reply in begun:
        run = runs.get(reply.headers["x-completion-id"].replace("-", ""))
        if run is None:
            found.append("a run that had started to answer is not stored")
        elif reply.is_complete:
            finished += 1
            if run != StoredRun("completed", script.text) or reply.text != run.text:
                found.append(f"a finished run is stored as {run}")
        elif run.outcome == "completed" and run.text == script.text:
            unseen += 1
        elif run.outcome != "interrupted" or not script.text.startswith(run.text):
            found.append(f"a cut run is stored as {run}")
        else:
            lost.append((len(reply.text) - len(run.text)) / len(piece(0)) * EVERY_MS / 1000)
    if max(lost) > MAX_LOST_SECONDS:
        found.append(f"{max(lost):.1f} seconds of an answer are lost")
    return Kill(
        finished=finished,
        cut=len(begun) - finished,
        rejected=sum(reply.status == REJECTED for _, reply in asked),
        unseen=unseen,
        lost_seconds=max(lost),
        problems=tuple(found),
    )


def main(arguments: list[str]) -> int:
    """Kill as often as asked and return the status of the process."""
    parser = ArgumentParser(prog="python -m benchmarks.kill", description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--streams", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", choices=(SQLITE, POSTGRES), default=SQLITE)
    parser.add_argument("--workers", type=int, default=1, help="more than 1 needs PostgreSQL")
    options = parser.parse_args(arguments)
    with on_load_core():
        kills = kill_repeatedly(
            times=options.times,
            streams=options.streams,
            random=Random(options.seed),
            deployment=Deployment(options.database, options.workers),
        )
    rows = [("kill", "finished", "cut", "rejected", "unseen", "lost s", "problems")]
    for number, one in enumerate(kills, 1):
        counts = (one.finished, one.cut, one.rejected, one.unseen)
        lost, problems = f"{one.lost_seconds:.2f}", str(len(one.problems))
        rows.append((str(number), *map(str, counts), lost, problems))  # type: ignore[arg-type]
    print(format_table(rows))
    found = [problem for one in kills for problem in one.problems]
    print(*(f"FAIL  {problem[:300]}" for problem in found), sep="\n")
    print("FAIL" if found else "PASS  no finished run was lost, every cut one says so")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
