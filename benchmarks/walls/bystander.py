"""The bystander: streams an answer and polls `/healthz`, in a process of its own.

`python -m benchmarks.walls.bystander PORT SERVER UPSTREAM` (the ids of their processes) goes on
until its standard input is closed, and then writes what it saw as one line of JSON. Its times are
those of the monotonic clock, which all processes of a machine share.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
import json
import os
import sys
import time
from typing import Any

import uvloop

from benchmarks.client import Heard, Line
from benchmarks.processes import Process
from benchmarks.script import Script
from benchmarks.servers import Installation
from benchmarks.stored import NOT_KEPT
from benchmarks.walls.memory import serving
from benchmarks.walls.noise import Noise, let_go_first
from benchmarks.walls.sending import exchange, head

EVERY_SECONDS = 0.05
POLL_SECONDS = 20.0  # after which a poll has failed
ANSWER = Script(chunks=150, every_ms=20)  # three seconds, then the next
ANSWER_SECONDS = 60.0
_JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Sample:
    """A time that the bystander waited.

    Attributes:
        at: When it began.
        own: Seconds of it for which the machine is not to blame.
    """

    at: float
    seconds: float
    own: float = 0.0


@dataclass(slots=True)
class Seen:
    """What the bystander saw.

    Attributes:
        polls: Of `/healthz`, each with its time to the whole answer.
        gaps: Between two pieces of an answer.
        ended_well: Answers that ended well.
        refused: Questions that were refused with 503, or whose answer says that it is not kept.
        problems: What it may not see.
    """

    polls: list[Sample] = field(default_factory=list)
    gaps: list[Sample] = field(default_factory=list)
    ended_well: int = 0
    refused: int = 0
    problems: list[str] = field(default_factory=list)


class _TimedLine(Line):
    """A question, and how long each piece of the answer kept it waiting."""

    def __init__(self, gaps: list[Sample]) -> None:
        super().__init__()
        self._gaps = gaps
        self._last: float | None = None

    def data_received(self, data: bytes) -> None:
        now = time.monotonic()
        if self._last is not None:
            self._gaps.append(Sample(self._last, now - self._last))
        self._last = now
        super().data_received(data)


async def stand_by(port: int, until: asyncio.Event, *, noise: Noise) -> Seen:
    """Polls and listens until the event is set; the answer that is under way is heard out."""
    seen, ended = Seen(), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(noise.watch(ended))
        async with asyncio.TaskGroup() as looking:
            looking.create_task(_poll(port, seen, until))
            looking.create_task(_listen(port, seen, until))
        ended.set()
    for samples in (seen.polls, seen.gaps):
        samples[:] = [replace(one, own=noise.own(one.at, one.seconds)) for one in samples]
    return seen


async def _poll(port: int, seen: Seen, until: asyncio.Event) -> None:
    """Polls on a schedule, so that a server which hangs keeps many polls waiting."""
    due = time.monotonic()
    async with asyncio.TaskGroup() as group:
        while not until.is_set():
            group.create_task(_poll_once(port, seen))
            due += EVERY_SECONDS
            await asyncio.sleep(due - time.monotonic())


async def _poll_once(port: int, seen: Seen) -> None:
    began = time.monotonic()
    status = 0
    with suppress(OSError):
        status = (await exchange(port, head("GET", "/healthz", {}), patience=POLL_SECONDS)).status
    seen.polls.append(Sample(began, time.monotonic() - began))
    if status != 200:
        seen.problems.append(f"/healthz answered the bystander with {status}")


async def _listen(port: int, seen: Seen, until: asyncio.Event) -> None:
    while not until.is_set():
        heard = await _ask(port, seen)
        if heard.status == 503 or (heard.whole and NOT_KEPT in heard.text):
            seen.refused += 1
            await asyncio.sleep(EVERY_SECONDS)
        elif heard.whole and heard.text == ANSWER.text:
            seen.ended_well += 1
        else:
            seen.problems.append(f"an answer to the bystander ended with {heard.raw[-200:]!r}")


async def _ask(port: int, seen: Seen) -> Heard:
    loop = asyncio.get_running_loop()
    try:
        _, line = await loop.create_connection(lambda: _TimedLine(seen.gaps), "127.0.0.1", port)
    except OSError:
        return Heard(b"", None)
    length = {"Content-Length": str(len(ANSWER.body))}
    line.ask(head("POST", Installation.path, {**_JSON, **length}) + ANSWER.body)
    with suppress(TimeoutError):
        async with asyncio.timeout(ANSWER_SECONDS):
            await line.ended
    line.transport.abort()
    return line.heard


@asynccontextmanager
async def bystander(server: Process, upstream: Process) -> AsyncIterator[list[Seen]]:
    """Runs a bystander beside the block; what it saw is in the list when the block has ended.

    Args:
        server: Whom it asks.
        upstream: Whom the server asks then.
    """
    numbers = (server.port, server.popen.pid, upstream.popen.pid)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.walls.bystander", *map(str, numbers)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=2**26,
    )
    found: list[Seen] = []
    assert process.stdout is not None
    try:
        await process.stdout.readline()  # it has begun
        for one in (process.pid, upstream.popen.pid):
            let_go_first(one)
        yield found
        said, _ = await process.communicate(b"")  # closes its standard input
        found.append(_from_json(json.loads(said)))
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _from_json(seen: dict[str, Any]) -> Seen:
    samples = {name: [Sample(*one) for one in seen[name]] for name in ("polls", "gaps")}
    return Seen(**{**seen, **samples})


def _to_json(seen: Seen) -> dict[str, Any]:
    def rows(samples: Sequence[Sample]) -> list[list[float]]:
        return [[one.at, one.seconds, one.own] for one in samples]

    return {
        "polls": rows(seen.polls),
        "gaps": rows(seen.gaps),
        "ended_well": seen.ended_well,
        "refused": seen.refused,
        "problems": seen.problems,
    }


async def _main(port: int, server: int, upstream: int) -> None:
    loop, until = asyncio.get_running_loop(), asyncio.Event()

    def end() -> None:
        loop.remove_reader(sys.stdin.fileno())
        until.set()

    loop.add_reader(sys.stdin.fileno(), end)
    print("begun", flush=True)
    noise = Noise(lambda: (*serving(server), upstream, os.getpid()))
    print(json.dumps(_to_json(await stand_by(port, until, noise=noise))))


if __name__ == "__main__":
    uvloop.run(_main(*map(int, sys.argv[1:])))
