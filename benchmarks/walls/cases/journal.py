"""A journal that cannot keep: somebody holds its lock, or no file may grow."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from random import Random
import sqlite3

import psycopg

from benchmarks.keeping import limit_files, recovered
from benchmarks.script import Script
from benchmarks.servers import Installation
from benchmarks.walls.arena import Arena

ASKED = 6  # questions of one scene
MOST_SECONDS = 5.0
CASES = 10  # of a class that is scenes and not questions


async def send(arena: Arena) -> None:
    """Scenes, each with questions before and meanwhile; what was taken away comes back."""

    async def scene(random: Random) -> None:
        script = Script(chunks=random.randint(1, 150), every_ms=20)
        questions = [asyncio.ensure_future(_ask(arena, script)) for _ in range(ASKED // 2)]
        await asyncio.sleep(random.uniform(0, 1))
        with random.choice((_lock_held, _disk_full))(arena):
            questions += [asyncio.ensure_future(_ask(arena, script)) for _ in range(ASKED // 2)]
            await asyncio.sleep(random.uniform(0.5, MOST_SECONDS))
        await asyncio.gather(*questions)
        await look_at_recovery(arena)

    await arena.each(scene, at_once=1, times=max(arena.cases // CASES, 1))


async def look_at_recovery(arena: Arena) -> None:
    """Waits until the server is ready again."""
    if not await asyncio.to_thread(recovered, arena.process):
        arena.fault("/readyz does not come back")


async def _ask(arena: Arena, script: Script) -> None:
    await arena.ask(script.body, slug="bench")


@contextmanager
def _disk_full(arena: Arena) -> Iterator[None]:
    limit_files(arena.process, most=1)
    try:
        yield
    finally:
        limit_files(arena.process, most=None)


@contextmanager
def _lock_held(arena: Arena) -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(
            _postgres_lock(arena.installed.database_url)
            if arena.installed.database_url
            else _sqlite_lock(arena.installed)
        )
        yield


@contextmanager
def _postgres_lock(url: str) -> Iterator[None]:
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE copilot_admin_run IN ACCESS EXCLUSIVE MODE")
        yield
        other.rollback()


@contextmanager
def _sqlite_lock(installed: Installation) -> Iterator[None]:
    other = sqlite3.connect(installed.folder / "copilot.sqlite3", isolation_level=None, timeout=20)
    try:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
    finally:
        other.close()
