"""Tasks on untrusted input, each in a child process with limits.

Children are forked from a server that has loaded the libraries but contains no keys. They return
JSON, never pickles, and end as soon as their caller stops waiting.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from enum import Enum
import json
import multiprocessing
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess
from multiprocessing.forkserver import ensure_running
import os
from pathlib import Path
import resource
import signal
import socket
from threading import Lock
from typing import TypeAlias
from weakref import WeakKeyDictionary

from protocol.json import Json, JsonObject

MAX_PROCESSES = 2
WORK_SECONDS = 30.0
WAIT_SECONDS = 35.0  # for a free process: longer than the limit of one task
EXIT_SECONDS = 2.0
MAX_REPLY_BYTES = 32 * 1024 * 1024  # of all replies to one order
_LENGTH_BYTES = 4
_NO_MEMORY_STATUS = 3
_ROOT = Path(__file__).parents[2]
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["copilot_admin.agent.worker_preload"])
_lock = Lock()  # `multiprocessing` isn't safe for starts and joins from several threads

# A task maps an order and its bytes to replies. It is a function at the top of a module.
Task: TypeAlias = Callable[[JsonObject, bytes], Iterator[Json]]


class FailureReason(Enum):
    DAMAGE = "damage"
    TIME = "time"
    MEMORY = "memory"
    UNKNOWN = "unknown"  # the fork server ended


_REASONS: Mapping[int | None, FailureReason] = {
    _NO_MEMORY_STATUS: FailureReason.MEMORY,
    -signal.SIGXCPU: FailureReason.TIME,
    -signal.SIGKILL: FailureReason.MEMORY,  # sent by the kernel if the machine is out of memory
    -signal.SIGABRT: FailureReason.MEMORY,  # libraries abort if an allocation fails
    255: FailureReason.UNKNOWN,
    None: FailureReason.UNKNOWN,
}


class TaskFailed(Exception):
    def __init__(self, reason: FailureReason) -> None:
        super().__init__(reason)
        self.reason = reason


class WorkersBusy(Exception):
    """No process became free in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a child: bytes of address space and seconds of CPU."""

    memory: int
    cpu_seconds: int

    def apply(self) -> None:
        for kind, soft, hard in (
            (resource.RLIMIT_AS, self.memory, self.memory),
            # SIGXCPU identifies the reason; a child that ignores it is killed a second later.
            (resource.RLIMIT_CPU, self.cpu_seconds, self.cpu_seconds + 1),
            (resource.RLIMIT_CORE, 0, 0),
            (resource.RLIMIT_FSIZE, 0, 0),
        ):
            with suppress(ValueError, OSError):  # macOS supports only some of them
                resource.setrlimit(kind, (soft, hard))


def start_fork_server() -> None:
    """Start the fork server in the background, so that the first task doesn't wait for imports."""
    with _lock:
        # `multiprocessing` passes no path to the preloaded module.
        os.environ.setdefault("PYTHONPATH", str(_ROOT))
        ensure_running()


class WorkerPool:
    """A limited number of children for one kind of task."""

    def __init__(self, task: Task, *, limits: Limits, max_processes: int = MAX_PROCESSES) -> None:
        self._task = task
        self._limits = limits
        self._max_processes = max_processes
        self._slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            WeakKeyDictionary()
        )

    async def run(
        self, order: JsonObject, body: bytes | str, *, on_reply: Callable[[Json], None]
    ) -> None:
        """Run the task in a new child, on parameters (`order`) and data (bytes, or ASCII text).

        `on_reply` gets each reply on arrival; it raises `ValueError`, `TypeError` or `KeyError` for
        an unknown one.

        Raises:
            WorkersBusy: No process became free in time.
            TaskFailed: The task wasn't finished.
        """
        data = body.encode("ascii") if isinstance(body, str) else body
        async with self._slot():
            child, ours = await self._start_child()
            try:
                async with asyncio.timeout(WORK_SECONDS):
                    await _exchange(ours, order, data, on_reply)
            except TimeoutError:
                raise TaskFailed(FailureReason.TIME) from None
            except (EOFError, OSError) as error:
                raise TaskFailed(await asyncio.to_thread(_failure_reason, child)) from error
            except MemoryError as error:
                raise TaskFailed(FailureReason.MEMORY) from error
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                raise TaskFailed(FailureReason.DAMAGE) from error
            finally:
                _end(child, ours)

    @asynccontextmanager
    async def _slot(self) -> AsyncGenerator[None, None]:
        loop = asyncio.get_running_loop()
        slots = self._slots.setdefault(loop, asyncio.Semaphore(self._max_processes))
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await slots.acquire()
        except TimeoutError:
            raise WorkersBusy from None
        try:
            yield
        finally:
            slots.release()

    async def _start_child(self) -> tuple[ForkServerProcess, socket.socket]:
        starting = asyncio.get_running_loop().run_in_executor(None, self._start)
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.add_done_callback(_end_started)
            raise
        except (OSError, EOFError) as error:
            raise TaskFailed(FailureReason.UNKNOWN) from error

    def _start(self) -> tuple[ForkServerProcess, socket.socket]:
        start_fork_server()
        ours, theirs = socket.socketpair()
        with theirs, _lock:
            child = _CONTEXT.Process(
                target=_run_in_child, args=(theirs, self._task, self._limits), daemon=True
            )
            try:
                child.start()
            except (OSError, EOFError):
                ours.close()
                raise
            return child, ours


def _end_started(done: asyncio.Future[tuple[ForkServerProcess, socket.socket]]) -> None:
    if done.exception() is None:
        _end(*done.result())


def _end(child: ForkServerProcess, ours: socket.socket) -> None:
    ours.close()
    if not wait([child.sentinel], 0):
        child.kill()


async def _exchange(
    ours: socket.socket, order: JsonObject, body: bytes, on_reply: Callable[[Json], None]
) -> None:
    reader, writer = await asyncio.open_unix_connection(sock=ours)
    try:
        writer.write(json.dumps({"order": order, "size": len(body)}).encode() + b"\n")
        writer.write(body)
        await writer.drain()
        bytes_left = MAX_REPLY_BYTES
        while length := int.from_bytes(await reader.readexactly(_LENGTH_BYTES)):
            bytes_left -= length
            if bytes_left < 0:
                raise MemoryError("replies are too long")
            on_reply(json.loads(await reader.readexactly(length)))
    finally:
        writer.transport.abort()


def _failure_reason(child: ForkServerProcess) -> FailureReason:
    wait([child.sentinel], EXIT_SECONDS)
    with _lock:
        return _REASONS.get(child.exitcode, FailureReason.DAMAGE)


def _run_in_child(theirs: socket.socket, task: Task, limits: Limits) -> None:
    limits.apply()
    try:
        with theirs, theirs.makefile("rwb") as stream:
            given = json.loads(stream.readline())
            body = stream.read(given["size"])
            for reply in task(given["order"], body):
                # A text may contain half of a surrogate pair.
                data = json.dumps(reply, ensure_ascii=False).encode("utf-8", "surrogatepass")
                stream.write(len(data).to_bytes(_LENGTH_BYTES) + data)
                stream.flush()
            stream.write(bytes(_LENGTH_BYTES))
    except MemoryError:
        os._exit(_NO_MEMORY_STATUS)
