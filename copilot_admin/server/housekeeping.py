"""What a server process does beside answering: hearts beat, the dead are found, the rest is saved."""

import asyncio
import contextlib
from functools import partial

from django import db

from copilot_admin.answering.open_run import (
    end_revoked,
    interrupt_all,
    start_draining,
    stop_draining,
)
from copilot_admin.answering.run import RUNNING
from copilot_admin.answering.tasks import spawn
from copilot_admin.component_calls.call import stop_all
from copilot_admin.engine.providers.registry import aclose_all
from copilot_admin.errors import Unavailable
from copilot_admin.journal import HEARTBEAT_SECONDS, beat, reap, replay_spool
from copilot_admin.server.shutdown import drain_on_signal
from copilot_admin.storage.writer import READER, WRITER

STOP_SECONDS = 5.0

_tasks: set[asyncio.Task[None]] = set()


async def start() -> None:
    """Before the socket opens: what another process left behind is put in order."""
    stop_draining()
    drain_on_signal()
    await WRITER.run(replay_spool)
    await WRITER.run(_reap_at_start)
    _tasks.add(spawn(_keep_house(), name="maintenance"))


async def stop() -> None:
    """After the last request: every run ends in the journal, then the threads end."""
    start_draining()
    for task in _tasks:
        task.cancel()
    await asyncio.gather(*_tasks, return_exceptions=True)
    _tasks.clear()
    await interrupt_all()
    await stop_all()
    await aclose_all()
    for thread in (WRITER, READER):
        await asyncio.to_thread(thread.stop, timeout=STOP_SECONDS)


async def _keep_house() -> None:
    while True:
        await asyncio.sleep(HEARTBEAT_SECONDS)
        with contextlib.suppress(db.Error, Unavailable):
            await WRITER.run(partial(beat, tuple(run.id for run in RUNNING)))
            await end_revoked()  # so the stream of a revoked key goes on for a heartbeat at most
            await WRITER.run(partial(reap, every_other_boot=False))


def _reap_at_start() -> int:
    # SQLite has one server process: whatever runs under another boot id is dead.
    return reap(every_other_boot=db.connection.vendor == "sqlite")
