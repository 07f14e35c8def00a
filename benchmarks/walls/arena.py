"""What a class of attacks is handed: a server, a seed, and a place for what was seen."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
import json
from random import Random
import time
from typing import Any

from benchmarks.processes import Process
from benchmarks.proxy import Proxy
from benchmarks.servers import Installation
from benchmarks.stored import NOT_KEPT, settled, stored_runs
from benchmarks.walls.sending import Reply, exchange, head

JSON = {"Content-Type": "application/json"}
# Every other status is a fault of the server: above all 500, and 0 for a connection without a word.
HONEST = frozenset({200, 302, 400, 401, 403, 404, 405, 408, 413, 415, 422, 429, 431, 501})
LATER = 503  # honest where it comes with Retry-After
BROKEN = 500
FAILED_COMPONENT = b'"component-failed"'  # the one 500 that is an answer
CRASHED = b"Something went wrong on the server."  # so begins what is said of an error of ours
LOOK_SECONDS = 0.3
MOST_PROBLEMS = 20  # more of a class say nothing new


@dataclass(slots=True)
class Arena:
    """A class of attacks under way.

    Attributes:
        process: The server.
        installed: Its data.
        strangers: The port of the server that plays model and file host.
        key: An endpoint key.
        random: Draws the cases.
        cases: How many to send.
        statuses: What came back, by status.
        problems: What may not be.
        door: Before the database, where the class wants one.
    """

    process: Process
    installed: Installation
    strangers: int
    key: str
    random: Random
    cases: int
    door: Proxy | None = None
    sent: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    _clean_ends: set[str] = field(default_factory=set)

    @property
    def port(self) -> int:
        """Where the server listens."""
        return self.process.port

    def fault(self, words: str) -> None:
        """Notes what may not be."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(words[:400])

    async def each(
        self, case: Callable[[Random], Awaitable[object]], *, at_once: int, times: int | None = None
    ) -> None:
        """Carries out cases, some at the same time; each draws from a seed of its own."""
        number = self.cases if times is None else times
        seeds = iter([self.random.getrandbits(64) for _ in range(number)])

        async def go_on() -> None:
            for seed in seeds:
                await case(Random(seed))

        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(go_on())

    async def ask(
        self, body: Any, *, slug: str = "wild", headers: Mapping[str, str] = JSON, query: str = ""
    ) -> Reply:
        """Asks a copilot; a body that is no bytes is written as JSON."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self.post(f"/v1/copilots/{slug}/query{query}", data, headers=headers)

    async def post(
        self, path: str, data: bytes, *, headers: Mapping[str, str] = JSON, **options: Any
    ) -> Reply:
        """Posts a body whose length is told."""
        first = head("POST", path, {**headers, "Content-Length": str(len(data))})
        return await self.send(first, [data], **options)

    async def send(self, first: bytes, parts: Any = (), **options: Any) -> Reply:
        """Sends whatever it is, and looks at the answer."""
        self.sent += 1
        try:
            reply = await exchange(self.port, first, parts, **options)
        except OSError as error:
            reply = Reply(0, {}, repr(error).encode(), whole=False, waited=0)
        self.saw(reply, of=first)
        return replace(reply, headers=dict(reply.headers))

    async def leave(self, first: bytes, parts: Any = (), **options: Any) -> None:
        """Sends it as somebody who has to expect no answer; one that comes is looked at."""
        self.sent += 1
        with suppress(OSError):
            reply = await exchange(self.port, first, parts, **options)
            if reply.status:
                self.saw(reply, of=first)

    def saw(self, reply: Reply, *, of: bytes) -> None:
        """Counts an answer, and notes one that no honest server gives."""
        self.statuses[reply.status] += 1
        if not _is_honest(reply):
            line = of.partition(b"\r\n")[0]
            self.fault(f"{reply.status} after {line!r}: {reply.body[-200:]!r}")
        if CRASHED in reply.body:
            self.fault(f"the run {reply.run_id} crashed")
        is_clean = reply.status == 200 and reply.whole and NOT_KEPT.encode() not in reply.body
        if is_clean and _asks(of):
            self._clean_ends.add(reply.run_id)

    def look_at_journal(self) -> None:
        """Notes runs without an end, and clean ends without a run; waits for the last rows."""
        for problem in settled(self.installed):
            self.fault(problem)
        if not self._clean_ends:
            return
        runs = stored_runs(self.installed)
        lost = self._clean_ends - runs.keys()
        if lost:
            self.fault(f"{len(lost)} answers ended well and are not kept")


def _asks(first: bytes) -> bool:
    """Whether the head of a request is that of a question; other answers have ids, and no run."""
    method, path, _ = first.split(b" ", 2)
    return method == b"POST" and path.partition(b"?")[0].endswith(b"/query")


def _is_honest(reply: Reply) -> bool:
    if reply.status == LATER:
        return "retry-after" in reply.headers
    if reply.status == BROKEN:
        return FAILED_COMPONENT in reply.body
    return reply.status in HONEST or reply.status == 204


async def happens(condition: Callable[[], object], *, seconds: float) -> bool:
    """Looks from time to time, in a thread, whether something has become true."""
    end = time.monotonic() + seconds
    while not await asyncio.to_thread(condition):
        if time.monotonic() > end:
            return False
        await asyncio.sleep(LOOK_SECONDS)
    return True


def is_down(reply: Reply) -> bool:
    """Whether the journal took too long: on a busy machine a question is refused then."""
    return reply.status == LATER and b'"journal-down"' in reply.body


def human(words: str) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "human", "content": words}


def spread(random: Random, least: float, most: float) -> int:
    """A size between two, where each power of two is as likely as the next."""
    size: float = least * (most / least) ** random.random()
    return round(size)
