"""A rolling restart: every worker is replaced while questions are asked; none is refused."""

import asyncio
from random import Random
import signal

from benchmarks.script import Script
from benchmarks.walls.arena import Arena, happens, is_down
from benchmarks.walls.memory import serving

AT_ONCE = 6
CASES = 20
HANGS_SECONDS = 180.0


async def send(arena: Arena) -> None:
    """Restarts after drawn pauses, each while answers are being given."""
    done = asyncio.Event()

    async def ask(random: Random) -> None:
        while not done.is_set():
            script = Script(chunks=random.randint(1, 200), every_ms=10)
            reply = await arena.ask(script.body, slug="bench")
            if not is_down(reply) and (reply.status != 200 or not reply.whole):
                arena.fault(f"{reply.status} during a restart, whole: {reply.whole}")
            await asyncio.sleep(random.uniform(0, 0.2))

    async with asyncio.TaskGroup() as group:
        group.create_task(arena.each(ask, at_once=AT_ONCE, times=AT_ONCE))
        try:
            for _ in range(max(arena.cases // CASES, 1)):
                await asyncio.sleep(arena.random.uniform(0.5, 2))
                await _restart(arena)
        finally:
            done.set()


async def _restart(arena: Arena) -> None:
    """Sends SIGHUP, and waits until no process of before serves any more."""
    parent = arena.process.popen.pid
    before = set(serving(parent)) - {parent}
    workers = len(before)
    arena.process.popen.send_signal(signal.SIGHUP)

    def are_replaced() -> bool:
        return len(before & set(serving(parent))) <= workers - arena.installed.workers

    if not await happens(are_replaced, seconds=HANGS_SECONDS):
        arena.fault(f"the workers were not replaced within {HANGS_SECONDS:.0f} s")
