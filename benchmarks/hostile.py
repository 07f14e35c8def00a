"""Posts malformed bodies to a running server: no answer may be a 500, nothing may be lost.

`python -m benchmarks.hostile --count 2000`.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
import sys

import uvloop

from benchmarks import servers
from benchmarks.bodies import hostile_bodies
from benchmarks.keep_alive import Answer, Connection
from benchmarks.options import deployment_in, fault_options
from benchmarks.processes import away_from_the_server, running
from benchmarks.servers import SMALL, Deployment, Installation, Target
from benchmarks.stored import outcomes, settled, stored_runs
from benchmarks.table import table

CONNECTIONS = 8
REFUSALS = frozenset({400, 413, 422})


@dataclass(frozen=True, slots=True)
class Posted:
    """What came of all bodies."""

    statuses: Counter[int]
    outcomes: dict[str, int]
    problems: tuple[str, ...]


def post_hostile_bodies(*, count: int, random: Random, deployment: Deployment = SMALL) -> Posted:
    """Posts so many bodies over a few connections and compares the answers with the journal."""
    bodies = list(hostile_bodies(count, random=random))
    with (
        servers.upstream() as model,
        servers.installation(model, deployment) as installed,
        running(installed.start()) as process,
    ):
        answers = uvloop.run(_post(Target(process, Installation.path), bodies))
        problems = _look(installed, answers)
        ways = outcomes(stored_runs(installed))
    return Posted(Counter(answer.status for answer in answers), ways, tuple(problems))


async def _post(target: Target, bodies: Sequence[bytes]) -> list[Answer]:
    waiting = iter(bodies)
    answers: list[Answer] = []

    async def post_on() -> None:
        connection = Connection(target)
        for body in waiting:
            answers.append(await connection.post(body))
        connection.close()

    async with asyncio.TaskGroup() as group:
        for _ in range(CONNECTIONS):
            group.create_task(post_on())
    return answers


def _look(installed: Installation, answers: Sequence[Answer]) -> list[str]:
    runs = stored_runs(installed)
    problems = settled(installed)
    for answer in answers:
        if answer.status == 200:
            if answer.completion_id not in runs:
                problems.append(f"not in the journal: {answer.body!r}")
        elif answer.status not in REFUSALS or b'"detail"' not in answer.body:
            problems.append(f"{answer.status} for {answer.question[:300]!r}: {answer.body!r}")
    accepted = sum(answer.status == 200 for answer in answers)
    if accepted != len(runs):
        problems.append(f"{accepted} bodies were accepted, {len(runs)} runs are stored")
    return problems


def main(arguments: list[str]) -> int:
    """Posts as many as asked; returns the status of the process."""
    parser = fault_options("hostile", __doc__)
    parser.add_argument("--count", type=int, default=2000)
    options = parser.parse_args(arguments)
    with away_from_the_server():
        posted = post_hostile_bodies(
            count=options.count, random=Random(options.seed), deployment=deployment_in(options)
        )
    rows = [(f"status {status}", str(count)) for status, count in sorted(posted.statuses.items())]
    rows += [(f"run {way}", str(count)) for way, count in posted.outcomes.items()]
    print(table([("answers", "count"), *rows]))
    print(*(f"FAIL  {problem[:600]}" for problem in posted.problems), sep="\n")
    print("FAIL" if posted.problems else "PASS  every answer was one, every run is in the journal")
    return int(bool(posted.problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
