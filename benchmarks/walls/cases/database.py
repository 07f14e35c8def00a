"""A PostgreSQL that goes away: it refuses, restarts or freezes for some seconds."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from random import Random

from benchmarks.keeping import behind_a_door
from benchmarks.processes import Process, running
from benchmarks.proxy import Proxy
from benchmarks.script import Script
from benchmarks.servers import Installation
from benchmarks.walls.arena import Arena
from benchmarks.walls.cases.journal import ASKED, CASES, MOST_SECONDS, look_at_recovery
from benchmarks.walls.copilots import BYSTANDER


@contextmanager
def stage(installed: Installation, _: int) -> Iterator[tuple[Process, Proxy]]:
    """A server of its own, whose database is behind a door."""
    with (
        behind_a_door(installed.database_url) as (door, url),
        running(replace(installed, database_url=url).start()) as process,
    ):
        yield process, door


async def send(arena: Arena) -> None:
    """Scenes, each with questions before, meanwhile and after."""
    door = arena.door
    assert door is not None

    async def scene(random: Random) -> None:
        script = Script(chunks=random.randint(1, 150), every_ms=20)
        take = random.choice((door.refuse, door.cut, door.swallow))
        questions = _asked(arena, script)
        await asyncio.sleep(random.uniform(0, 1))
        take()
        questions += _asked(arena, script)
        await asyncio.sleep(random.uniform(0.5, MOST_SECONDS))
        if take != door.cut:
            door.restore()
        questions += _asked(arena, script)
        await asyncio.gather(*questions)
        await look_at_recovery(arena)

    await arena.each(scene, at_once=1, times=max(arena.cases // CASES, 1))


def _asked(arena: Arena, script: Script) -> list[asyncio.Future[object]]:
    """Questions that are under way."""
    return [
        asyncio.ensure_future(arena.ask(script.body, slug=BYSTANDER)) for _ in range(ASKED // 3)
    ]
