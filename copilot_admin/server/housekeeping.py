"""The life of a server process: what is put in order before it listens, and how it ends."""

import asyncio
import contextlib
from functools import partial
import logging
import os
from pathlib import Path

from django import db
from django.conf import settings

from copilot_admin.agent.documents.registry import data_types
from copilot_admin.agent.files.file_processes import WORKERS
from copilot_admin.agent.providers.registry import aclose_all, provider_kinds
from copilot_admin.component_calls.call import stop_all
from copilot_admin.config.databases import SQLITE
from copilot_admin.config.issuers import faults_of_issuers
from copilot_admin.errors import ConfigurationError
from copilot_admin.http.allowed_origins import ALLOWED_ORIGINS
from copilot_admin.http.heaps import keep_few_heaps
from copilot_admin.jobs import background
from copilot_admin.jobs.backups.sqlite import clear_restored
from copilot_admin.limits.cache import LIMIT_CACHE
from copilot_admin.limits.redis_client import LIMIT_REDIS
from copilot_admin.limits.rejections import REJECTIONS
from copilot_admin.runs.open_run import (
    interrupt_all,
    start_draining,
    stop_draining,
)
from copilot_admin.runs.refused import REFUSED
from copilot_admin.runs.tasks import spawn
from copilot_admin.server.database_faults import sentence_of
from copilot_admin.server.duties import (
    DUTIES,
    LIMIT_DUTIES,
    beat_hearts,
    look_at_rules,
    read_figures,
    replay,
)
from copilot_admin.server.garbage import spare_what_stays
from copilot_admin.server.open_files import FullTable
from copilot_admin.server.rounds import again_and_again
from copilot_admin.server.shutdown import drain_on_signal
from copilot_admin.server.sole_server import sole_server_of_this_process
from copilot_admin.storage.schema import known_migrations
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.writer import READER, WRITER
from copilot_admin.telemetry.metrics import counting
from copilot_admin.telemetry.tracing import start_tracing, stop_tracing
from copilot_admin.transcripts.store import JOURNAL, reap

STOP_SECONDS = 5.0
_tasks: set[asyncio.Task[None]] = set()
_alone = contextlib.ExitStack()  # from start to stop
logger = logging.getLogger(__name__)


async def start() -> None:
    """Before the socket opens: what another process left behind is put in order.

    Raises:
        ConfigurationError: The database cannot be used, or has a server already.
    """
    _alone.enter_context(sole_server_of_this_process())
    stop_draining()
    keep_few_heaps()
    drain_on_signal()
    for fault in faults_of_issuers(os.environ):
        logger.warning("%s", fault)
    await asyncio.to_thread(WORKERS.start)  # so that the first file finds it ready
    # What they stand on takes 0.7 s of CPU to load. On a busy machine that is longer than a question
    # waits, and the first ones were refused.
    await asyncio.to_thread(provider_kinds)
    await asyncio.to_thread(data_types)  # 0.4 s; the first question with data waited for it
    try:
        await WRITER.run(known_migrations)
        _look_at_database_file()
        SPOOL.remove_leftovers()
        while await replay():  # what is stored stays so, whatever comes of the rest
            pass
        while await WRITER.run(_reap_at_start):
            pass
        await WRITER.run(ALLOWED_ORIGINS.read)
        await WRITER.run(LIMIT_CACHE.load)
    except db.Error as error:
        raise ConfigurationError(sentence_of(error)) from error
    # Not before: a start that fails ends this loop, and what is handed to it then is lost.
    background.start(asyncio.get_running_loop())
    spare_what_stays()
    await asyncio.to_thread(start_tracing, settings.COLLECTOR)
    _tasks.add(spawn(again_and_again(FullTable().tell, beat_hearts), name="heartbeat"))
    _tasks.add(spawn(again_and_again(*DUTIES), name="maintenance"))
    _tasks.add(spawn(again_and_again(*LIMIT_DUTIES), name="limits"))
    _tasks.add(spawn(again_and_again(look_at_rules), name="alerts"))
    if counting() is not None:
        _tasks.add(spawn(again_and_again(read_figures), name="figures"))


async def stop() -> None:
    """After the last request: every run ends in the journal, then the threads end."""
    start_draining()
    for task in _tasks:
        task.cancel()
    if _tasks:
        await asyncio.wait(_tasks)  # what one of them raised is logged by it
    _tasks.clear()
    await interrupt_all()
    await background.leave()  # it gives back what it asks for; the writer still takes it
    await stop_all()
    await aclose_all()
    await REFUSED.close()
    await REJECTIONS.store()
    await LIMIT_REDIS.close()
    await JOURNAL.close()
    await asyncio.to_thread(background.stop, timeout=STOP_SECONDS)  # it waits for the writer
    await asyncio.to_thread(WORKERS.stop)
    await asyncio.to_thread(partial(stop_tracing, timeout=STOP_SECONDS))
    for thread in (WRITER, READER):
        await asyncio.to_thread(thread.stop, timeout=STOP_SECONDS)
    _alone.close()


def _look_at_database_file() -> None:
    database = settings.DATABASES["default"]
    if database["ENGINE"] == SQLITE:
        clear_restored(Path(database["NAME"]))  # no other server or restore is there


def _reap_at_start() -> int:
    # SQLite has one server process: whatever runs under another boot id is dead.
    return reap(every_other_boot=db.connection.vendor == "sqlite")
