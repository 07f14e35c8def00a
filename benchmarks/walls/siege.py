"""One class sent at a running server: the bystander beside it, the memory, the journal after it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
import time

from benchmarks import servers
from benchmarks.keeping import fetch
from benchmarks.processes import Process, running
from benchmarks.proxy import Proxy
from benchmarks.script import Script
from benchmarks.servers import Deployment, Installation
from benchmarks.walls.admin_pages import NAME, PASSWORD
from benchmarks.walls.arena import Arena
from benchmarks.walls.bystander import bystander
from benchmarks.walls.cases import Wall
from benchmarks.walls.copilots import copilot_file
from benchmarks.walls.memory import memory_of
from benchmarks.walls.report import Row, Waits, seen_problems, waits
from benchmarks.walls.strangers import strangers

VARIABLES = {
    "COPILOT_FETCH_ALLOW": "127.0.0.1",  # where the server of strangers is
    "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
}
AFTER_SECONDS = 0.5
CLASS_SECONDS = 3600.0  # a class that takes longer hangs


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is sent.

    Attributes:
        cases: Of each class.
        alone: Seconds that the bystander is watched before each class.
    """

    seed: int
    cases: int
    alone: float = 5.0


@dataclass(frozen=True, slots=True)
class Besieged:
    """A server that runs, and what attacks need besides it."""

    installed: Installation
    process: Process
    upstream: Process
    strangers: Process
    key: str


@contextmanager
def besieged(deployment: Deployment) -> Iterator[Besieged]:
    """Starts a server with copilots of all kinds, and the server of strangers."""
    with servers.upstream() as model, strangers() as hosts:
        file = copilot_file(servers.base_url(model), f"http://127.0.0.1:{hosts.port}/v1")
        with servers.installation(model, deployment, file=file, variables=VARIABLES) as installed:
            installed.manage(
                *("createsuperuser", "--noinput"),
                *("--username", NAME, "--email", "builder@example.com"),
            )
            key = installed.manage("keys", "create", "walls").strip()
            with running(installed.start()) as process:
                fetch(process, Installation.path, Script(chunks=3, every_ms=0).body)  # warm-up
                yield Besieged(installed, process, model.process, hosts, key)


async def send(wall: Wall, server: Besieged, plan: Plan) -> Row:
    """Sends a class and says what it did."""
    if wall.stage is None:
        return await _send(wall, server, plan, process=server.process, door=None)
    with wall.stage(server.installed, server.strangers.port) as (process, door):
        return await _send(wall, server, plan, process=process, door=door)


async def _send(
    wall: Wall, server: Besieged, plan: Plan, *, process: Process, door: Proxy | None
) -> Row:
    arena = Arena(
        process,
        server.installed,
        strangers=server.strangers.port,
        key=server.key,
        random=Random(f"{plan.seed} {wall.name}"),
        cases=plan.cases,
        door=door,
    )
    if wall.prepare is not None:
        await wall.prepare(arena)
    async with bystander(process, server.upstream) as seen:
        first = time.monotonic()
        await asyncio.sleep(plan.alone)
        began = time.monotonic()
        with memory_of(process) as memory:
            try:
                async with asyncio.timeout(CLASS_SECONDS):
                    await wall.send(arena)
            except TimeoutError:
                arena.fault(f"it did not end within {CLASS_SECONDS:.0f} s")
            await asyncio.sleep(AFTER_SECONDS)  # what goes on without those who asked counts too
        ended = time.monotonic()
    await asyncio.to_thread(arena.look_at_journal)
    [saw] = seen
    no_gaps = Waits(0.0, 0.0, 0.0)  # an answer waits for what was taken away
    return Row(
        name=wall.name,
        sent=arena.sent,
        statuses=arena.statuses,
        alone=waits(saw.polls, since=first, until=began),
        polls=waits(saw.polls, since=began, until=ended),
        gaps=no_gaps if wall.may_be_refused else waits(saw.gaps, since=began, until=ended),
        largest=memory.largest,
        together=memory.together,
        problems=(*seen_problems(saw, may_be_refused=wall.may_be_refused), *arena.problems),
    )
