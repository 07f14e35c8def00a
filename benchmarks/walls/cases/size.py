"""Size: a copilot with many conversations is deleted while others are asked."""

import asyncio
from random import Random

from benchmarks.script import Script
from benchmarks.walls.admin_pages import form_in, person
from benchmarks.walls.arena import Arena, happens, spread
from benchmarks.walls.copilots import DOOMED

CONVERSATIONS = 50  # for each case that is sent
HANGS_SECONDS = 600.0
AT_ONCE = 4
_FILL = """
import sys
import django
django.setup()
from benchmarks.filling import fill
from copilot_admin.models import Copilot
fill(Copilot.objects.get(slug=sys.argv[1]).live, int(sys.argv[2]))
"""


async def prepare(arena: Arena) -> None:
    """Fills the copilot."""
    number = spread(arena.random, 10, CONVERSATIONS * arena.cases)
    await asyncio.to_thread(arena.installed.run, "-c", _FILL, DOOMED, str(number))


async def send(arena: Arena) -> None:
    """Deletes it in the admin, and asks another one until nothing is left."""
    ((doomed,),) = arena.installed.query(_WHERE)
    await _delete(arena, str(doomed))
    gone = asyncio.Event()

    async def ask(_: Random) -> None:
        while not gone.is_set():
            await arena.ask(Script(chunks=3, every_ms=5).body, slug="bench")
            await asyncio.sleep(0.05)

    async with asyncio.TaskGroup() as group:
        group.create_task(arena.each(ask, at_once=AT_ONCE, times=AT_ONCE))
        try:
            if not await happens(lambda: not arena.installed.query(_WHERE), seconds=HANGS_SECONDS):
                arena.fault(f"the copilot was not deleted within {HANGS_SECONDS:.0f} s")
        finally:
            gone.set()


async def _delete(arena: Arena, doomed: str) -> None:
    archive = f"/admin/copilot_admin/copilot/archive/?id={doomed}"  # what it is deleted from
    delete = f"/admin/copilot_admin/copilot/{doomed}/delete/"
    async with person(arena.port) as builder:
        arena.statuses[await builder.log_in()] += 1
        for path in (archive, delete):
            fields = form_in(await builder.look(path))
            status = await builder.send(path, {**fields, "post": "yes"})
            arena.sent += 1
            arena.statuses[status] += 1
            if status != 302:
                arena.fault(f"the copilot could not be deleted: {status} of {path}")
    arena.sent += 1


_WHERE = f"SELECT id FROM copilot_admin_copilot WHERE slug = '{DOOMED}'"  # noqa: S608
