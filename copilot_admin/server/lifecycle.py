"""Start and end of a server process, called by the ASGI lifespan."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
import gc
import multiprocessing
import os
import signal
import threading
from types import FrameType
from typing import TypeAlias

from django import db
from django.conf import settings

from copilot_admin.agent.documents.registry import data_types
from copilot_admin.agent.providers.http_client import close_clients
from copilot_admin.agent.providers.registry import provider_kinds
from copilot_admin.agent.worker_processes import start_fork_server
from copilot_admin.component_calls.call import CALLS, stop_all
from copilot_admin.config.databases import SQLITE
from copilot_admin.errors import ConfigurationError, Unavailable
from copilot_admin.http.middleware import ALLOWED_ORIGINS
from copilot_admin.jobs import tasks as background_tasks
from copilot_admin.limits.admission import REJECTIONS
from copilot_admin.limits.counters import LIMIT_REDIS
from copilot_admin.runs.open_run import DRAINING, REJECTED_RUNS, interrupt_all
from copilot_admin.runs.run import RUNNING
from copilot_admin.runs.tasks import spawn
from copilot_admin.server.database_check import describe_database_error, instance_lock
from copilot_admin.server.periodic_tasks import PERIODIC_TASKS, start_periodic_tasks
from copilot_admin.storage.schema import known_migrations
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.writer import READER, WRITER
from copilot_admin.telemetry.finished_runs import start_tracing, stop_tracing
from copilot_admin.transcripts.store.transcript_store import reap, replay_spool

STOP_SECONDS = 5.0  # for each thread
# Objects until Python looks for cycles, about 5 MB; its 700 are fewer than a short request makes.
GARBAGE_THRESHOLD = 20_000
_periodic_tasks: list[asyncio.Task[None]] = []
_lock = ExitStack()  # from start to stop
SIGNALS = (signal.SIGTERM, signal.SIGINT)
# A client whose connection was accepted just before the worker stopped listening has so long to send
# its request; uvicorn would close the connection at once.
LATE_REQUEST_SECONDS = 1.0


async def start() -> None:
    _lock.enter_context(instance_lock())
    DRAINING.clear()
    install_signal_handlers()
    # The first file doesn't wait for a fork server. The others import for 0.7 and 0.4 s of CPU: the
    # first requests would time out on a busy machine.
    for prepare in (start_fork_server, provider_kinds, data_types):
        await asyncio.to_thread(prepare)
    try:
        await WRITER.run(known_migrations)
        SPOOL.remove_leftovers()
        while await WRITER.run(replay_spool):
            pass
        # SQLite has one server process: every run of another boot is dead.
        is_only_server = settings.DATABASES["default"]["ENGINE"] == SQLITE
        while await WRITER.run(partial(reap, every_other_boot=is_only_server)):
            pass
        await WRITER.run(ALLOWED_ORIGINS.refresh)
    except db.Error as error:
        raise ConfigurationError(describe_database_error(error)) from error
    # Last: a start that fails ends this loop, and what it was given to do is lost.
    background_tasks.start(asyncio.get_running_loop())
    # A full pass over what is loaded stops all streams for 0.1 s, and finds nothing.
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD, 10, 10)
    await asyncio.to_thread(start_tracing, settings.TRACES)
    _periodic_tasks.extend(start_periodic_tasks(PERIODIC_TASKS))


async def stop() -> None:
    """End every run and write it down, then end the threads; called after the last request."""
    DRAINING.set()
    for task in _periodic_tasks:
        task.cancel()
    await asyncio.gather(*_periodic_tasks, return_exceptions=True)
    _periodic_tasks.clear()
    await interrupt_all()
    await background_tasks.stop_coroutines()
    await stop_all()
    await close_clients()
    with suppress(Unavailable):
        await REJECTED_RUNS.store()
    await REJECTIONS.store()
    await LIMIT_REDIS.close()
    # Background tasks use the writer.
    for end in (background_tasks.stop, stop_tracing, WRITER.stop, READER.stop):
        await asyncio.to_thread(end, timeout=STOP_SECONDS)
    _lock.close()


Handler: TypeAlias = Callable[[int, FrameType | None], object]


def install_signal_handlers() -> None:
    """Drain on SIGTERM and SIGINT, before uvicorn's own handlers stop the server."""
    if threading.current_thread() is not threading.main_thread():
        return  # a server inside a test; only the main thread may handle signals
    shutdown = GracefulShutdown(asyncio.get_running_loop())
    for number in SIGNALS:
        stop_server = signal.getsignal(number)
        if callable(stop_server):
            signal.signal(number, partial(shutdown.on_signal, stop_server))
    if shutdown.is_worker:
        threading.Thread(target=_terminate_with_supervisor, daemon=True).start()


class GracefulShutdown:
    """Reacts to signals: the first one drains, a second one interrupts what still runs."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.is_worker = multiprocessing.parent_process() is not None
        self._loop = loop
        self._has_begun = False
        self._interrupt_now = asyncio.Event()

    def on_signal(self, stop_server: Handler, number: int, _frame: FrameType | None) -> None:
        if not self._has_begun:
            self._has_begun = True
            shut_down = self._stop_worker if self.is_worker else self._drain_server
            work = shut_down(stop_server, number)
            self._loop.call_soon_threadsafe(partial(spawn, work, name="drain"))
        elif not self.is_worker:  # Ctrl-C reaches a worker twice: also through its supervisor
            self._loop.call_soon_threadsafe(self._interrupt_now.set)

    async def _drain_server(self, stop_server: Handler, number: int) -> None:
        DRAINING.set()
        await drain(settings.DRAIN_SECONDS, self._interrupt_now)
        stop_server(number, None)

    async def _stop_worker(self, stop_server: Handler, number: int) -> None:
        server = getattr(stop_server, "__self__", None)  # the handler is a method of the server
        for listener in getattr(server, "servers", ()):
            listener.close()
        await asyncio.sleep(LATE_REQUEST_SECONDS)
        stop_server(number, None)
        await asyncio.sleep(settings.DRAIN_SECONDS - LATE_REQUEST_SECONDS)
        await interrupt_all()
        await stop_all()


async def drain(timeout_seconds: float, interrupt_now: asyncio.Event) -> None:
    """Wait for runs and component calls until the timeout or the event, then interrupt the rest."""
    running = {*(run.task for run in RUNNING), *(call.task for call in CALLS)}
    if running:
        ends = [asyncio.ensure_future(one) for one in (asyncio.wait(running), interrupt_now.wait())]
        await asyncio.wait(ends, timeout=timeout_seconds, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
    await interrupt_all()
    await stop_all()


def _terminate_with_supervisor() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
