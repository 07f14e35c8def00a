"""Takes the disk, the lock and the database away from a server, and looks at what its clients hear.

No client may hear a clean end of an answer that is not kept; nobody
waits for more than ten seconds (a held lock) or five (PostgreSQL); all of it mends itself, but a
damaged file.
"""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.message import Message
import json
import os
import resource
import sqlite3
import sys
import time
from types import MappingProxyType
from urllib.error import HTTPError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import Request, urlopen

import uvloop

from benchmarks import servers
from benchmarks.client import Heard, call
from benchmarks.databases import new_database
from benchmarks.processes import Process, running
from benchmarks.proxy import Proxy, proxy
from benchmarks.script import Script
from benchmarks.servers import Installation, Target
from benchmarks.stored import NOT_KEPT, stored_runs
from benchmarks.table import table

STREAMS = 4
LOCK_SECONDS = 10.0
DATABASE_SECONDS = 5.0
HANGS_SECONDS = 60.0
PAGE_BYTES = 4096  # of SQLite
LATER = {"retry-after", "access-control-allow-origin"}
MACHINES = ("/copilots.json", "/v2/components", "/readyz")


@dataclass(frozen=True, slots=True)
class Seen:
    """What somebody saw.

    Attributes:
        limit: Seconds that it may take; None: it is not judged by the clock.
    """

    what: str
    seconds: float
    kept: bool
    limit: float | None = None

    @property
    def in_time(self) -> bool:
        return self.limit is None or self.seconds <= self.limit


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to one plain request."""

    status: int
    headers: frozenset[str]
    body: bytes
    seconds: float


def fetch(
    process: Process,
    path: str,
    body: bytes | None = None,
    *,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Reply:
    """Asks once; every status is an answer."""
    sent = {"Content-Type": "application/json", "Origin": "https://pro.openbb.co", **headers}
    request = Request(f"http://127.0.0.1:{process.port}{path}", data=body, headers=sent)
    began = time.monotonic()
    try:
        with urlopen(request, timeout=HANGS_SECONDS) as answer:  # noqa: S310
            found = answer.status, _names(answer.headers), answer.read()
    except HTTPError as refused:
        with refused:
            found = refused.code, _names(refused.headers), refused.read()
    return Reply(*found, seconds=time.monotonic() - began)


def full_disk(*, streams: int = STREAMS) -> Iterator[Seen]:
    """No file may grow while answers are streamed."""
    with (
        servers.upstream() as model,
        servers.installation(model) as installed,
        running(installed.start()) as process,
    ):
        began = time.monotonic()
        heard = uvloop.run(_stream_and_fill(Target(process, Installation.path), streams))
        seconds = time.monotonic() - began
        clean = [one for one in heard if one.whole and NOT_KEPT not in one.text]
        yield Seen(f"full disk: {streams} clients are told", seconds, not clean)
        yield _refused(process, "full disk: a question is refused", limit=LOCK_SECONDS)
        ready = fetch(process, "/readyz")
        yield Seen("full disk: /readyz is 503", ready.seconds, ready.status == 503)
        spool = installed.folder / "spool"
        left = sorted(spool.glob("*.tmp")) if spool.exists() else []
        yield Seen("full disk: no leftovers in the spool", 0, not left)
        limit_files(process, most=None)
        yield _recovers(process, "room again: /readyz is 200")
        ended = [run.outcome for run in stored_runs(installed).values()]
        lost = len(ended) < streams or "running" in ended or "completed" in ended
        yield Seen("room again: the runs are stored as failed", 0, not lost)


async def _stream_and_fill(target: Target, streams: int) -> list[Heard]:
    lines = [await call(target, Script(chunks=100)) for _ in range(streams)]
    for line in lines:
        await line.began
    limit_files(target.process, most=1)
    for line in lines:
        await line.ended
    return [line.heard for line in lines]


def limit_files(process: Process, *, most: int | None) -> None:
    """Lets no file of a server grow beyond so many bytes; None: as it was."""
    for one in process.family():
        with suppress(ProcessLookupError):
            _, hard = resource.prlimit(one, resource.RLIMIT_FSIZE)
            if hard == resource.RLIM_INFINITY:  # those that read files write none anyway
                soft = hard if most is None else most
                resource.prlimit(one, resource.RLIMIT_FSIZE, (soft, hard))


def held_lock() -> Iterator[Seen]:
    """Another process writes for as long as we look."""
    with (
        servers.upstream() as model,
        servers.installation(model) as installed,
        running(installed.start()) as process,
    ):
        other = sqlite3.connect(installed.folder / "copilot.sqlite3", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        yield _refused(process, "held lock: a question is refused", limit=LOCK_SECONDS)
        yield _refused(process, "held lock: and the next one", limit=LOCK_SECONDS)
        other.execute("ROLLBACK")
        other.close()
        yield _recovers(process, "lock released: /readyz is 200")
        yield _answered(process, "lock released: a question is answered")


def damaged_file() -> Iterator[Seen]:
    """The file of the database is overwritten, all but its first page."""
    with (
        servers.upstream() as model,
        servers.installation(model) as installed,
        running(installed.start()) as process,
    ):
        yield _answered(process, "whole file: a question is answered")
        with (installed.folder / "copilot.sqlite3").open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(PAGE_BYTES)
            file.write(b"\xff" * (size - PAGE_BYTES))
        yield from _without_database(process, "damaged file")


def database_away() -> Iterator[Seen]:
    """PostgreSQL is stopped, restarted and frozen, behind a proxy."""
    with (
        servers.upstream() as model,
        new_database() as address,
        behind_a_door(address) as (door, url),
        servers.installation_over(url, model) as installed,
        running(installed.start()) as process,
    ):
        yield _answered(process, "PostgreSQL there: a question is answered")
        door.cut()
        yield _answered(process, "PostgreSQL restarted: a question is answered")
        door.refuse()
        yield from _without_database(process, "PostgreSQL refuses")
        yield from _back(process, door)
        door.swallow()
        yield from _without_database(process, "PostgreSQL is frozen")
        yield from _back(process, door)


def _back(process: Process, door: Proxy) -> Iterator[Seen]:
    door.restore()
    yield _recovers(process, "PostgreSQL back: /readyz is 200")
    yield _answered(process, "PostgreSQL back: a question is answered")
    reply = _start_page(process)
    yield Seen("PostgreSQL back: a page is there", reply.seconds, reply.status == 200)


def _without_database(process: Process, why: str) -> Iterator[Seen]:
    yield _refused(process, f"{why}: a question is refused", limit=DATABASE_SECONDS)
    for path in MACHINES:
        reply = fetch(process, path, headers={"X-API-Key": "one that has to be looked up"})
        kept = reply.status == 503 and (path == "/readyz" or reply.headers >= LATER)
        yield Seen(f"{why}: {path} is 503", reply.seconds, kept, DATABASE_SECONDS)
    yield _page(process, why)
    yield _page(process, f"{why} still")


def _start_page(process: Process) -> Reply:
    """What somebody gets whose session has to be looked up."""
    return fetch(process, "/admin/", headers={"Cookie": "sessionid=" + "a" * 32})


def _page(process: Process, why: str) -> Seen:
    reply = _start_page(process)
    kept = reply.status == 503 and b"Not available now" in reply.body
    return Seen(f"{why}: a page says so", reply.seconds, kept, DATABASE_SECONDS)


def _refused(process: Process, what: str, *, limit: float) -> Seen:
    reply = fetch(process, Installation.path, Script(chunks=3, every_ms=0).body)
    kept = (
        reply.status == 503
        and set(json.loads(reply.body)) == {"detail", "code"}
        and reply.headers >= LATER
    )
    return Seen(what, reply.seconds, kept, limit)


def _names(headers: Message) -> frozenset[str]:
    return frozenset(name.lower() for name in headers)


def _answered(process: Process, what: str) -> Seen:
    script = Script(chunks=3, every_ms=0)
    reply = fetch(process, Installation.path, script.body)
    return Seen(what, reply.seconds, reply.status == 200 and NOT_KEPT.encode() not in reply.body)


def _recovers(process: Process, what: str) -> Seen:
    began = time.monotonic()
    kept = recovered(process)
    return Seen(what, time.monotonic() - began, kept)


def recovered(process: Process) -> bool:
    """Waits for a server to be ready again; whether it came to that."""
    end = time.monotonic() + HANGS_SECONDS
    while fetch(process, "/readyz").status != 200:
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


@contextmanager
def behind_a_door(address: str) -> Iterator[tuple[Proxy, str]]:
    """A proxy before a database; gives it and the address through it."""
    parts = urlsplit(address)
    with proxy(parts.hostname or "127.0.0.1", parts.port or 5432) as door:
        user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
        yield door, urlunsplit(parts._replace(netloc=f"{user}127.0.0.1:{door.port}"))


SCENES = (full_disk, held_lock, damaged_file, database_away)


def main(arguments: Sequence[str]) -> int:
    """Plays every scene; returns the status of the process."""
    ArgumentParser(prog="python -m benchmarks.keeping", description=__doc__).parse_args(arguments)
    rows = [("what", "seconds", "limit", "kept")]
    failed = False
    for scene in SCENES:
        for seen in scene():
            failed |= not (seen.kept and seen.in_time)
            limit = "" if seen.limit is None else f"{seen.limit:.0f}"
            said = "yes" if seen.kept and seen.in_time else "NO"
            rows.append((seen.what, f"{seen.seconds:.1f}", limit, said))
    print(table(rows))
    print("FAIL" if failed else "PASS  what was said to clients is what is kept")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
