"""Fills a journal and says how long the list of transcripts, its search and the figures take.

    python -m benchmarks.review [--messages N] [--times N] [--runs N] [--keep FOLDER]

With DATABASE_URL it runs on PostgreSQL (in a database of its own on that server), else on SQLite. To
fill takes hours at full size: with --keep it is done once, in this folder or in the very database of
DATABASE_URL, and what is there is measured again. With --times 40 a fortieth is written by the product
and the rest copied of it by PostgreSQL, with ids, days and rollups of its own (`multiplying.py`).
What counts is the server's time for a page, the median of some runs after a first one; beside it the
shortest, the processor time of this process (of PostgreSQL's none is in it) and the time in the
database. The last line says what a turn takes on the disk, with its indexes.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import date
import os
from pathlib import Path
from statistics import median
import sys
import tempfile
import time
from typing import Any

from benchmarks.databases import new_database

MOST_MS = {"postgresql": 150.0, "sqlite": 250.0}
MOST_BYTES = 12_000  # of a turn
MESSAGES = {"postgresql": 1_000_000, "sqlite": 250_000}
COPILOTS, VERSIONS = 50, 3
LONG = 100  # turns of the longest conversation


@dataclass(frozen=True, slots=True)
class Measured:
    """How long one page took, in milliseconds, and how many rows it showed."""

    name: str
    median_ms: float
    shortest_ms: float
    cpu_ms: float
    database_ms: float
    queries: int
    rows: int


def main(arguments: Sequence[str]) -> int:
    """Fills, measures, prints; the status says whether the bounds are kept."""
    parser = ArgumentParser(prog="python -m benchmarks.review", description=__doc__)
    parser.add_argument("--messages", type=int, help="questions and answers together")
    parser.add_argument(
        "--times", type=int, default=1, help="fill a part, and multiply it (PostgreSQL)"
    )
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--keep", metavar="FOLDER", help="stays, and is filled only if it is empty")
    options = parser.parse_args(arguments)
    with nullcontext(options.keep) if options.keep else tempfile.TemporaryDirectory() as folder:
        os.environ["COPILOT_DATA_DIR"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "copilot_admin.settings"
        server = os.environ.get("DATABASE_URL", "")
        own = server and not options.keep
        with new_database(server) if own else nullcontext(server) as url:
            os.environ["DATABASE_URL"] = url
            try:
                return _measure(Path(folder), options)
            finally:
                _close()


def _measure(folder: Path, options: Namespace) -> int:
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from benchmarks.review_pages import pages

    call_command("migrate", verbosity=0)
    vendor = connection.vendor
    turns = _turns() or _fill((options.messages or MESSAGES[vendor]) // 2, options.times)
    size = _bytes(folder) / turns
    measured = [_timed(name, page, given, options.runs) for name, page, given in pages()]
    print(f"\n{vendor}: {2 * turns:,} messages\n")
    print(
        "| page | rows | median ms | shortest | CPU | database | queries |\n|---|---|---|---|---|---|---|"
    )
    for one in measured:
        times = (one.median_ms, one.shortest_ms, one.cpu_ms, one.database_ms)
        said = " | ".join(f"{ms:.0f}" for ms in times)
        print(f"| {one.name} | {one.rows} | {said} | {one.queries} |")
    print(f"\n{size / 1000:.1f} kB a turn, at most {MOST_BYTES / 1000:.0f}")
    slow = [one.name for one in measured if one.median_ms > MOST_MS[vendor]]
    print(f"longer than {MOST_MS[vendor]:.0f} ms: {', '.join(slow) or 'none'}")
    return int(bool(slow) or size > MOST_BYTES)


def _fill(turns: int, times: int) -> int:
    from benchmarks.multiplying import multiply
    from benchmarks.planning import analyze
    from benchmarks.transcripts import TURNS, filler
    from tests.factories import make_key

    versions = [version for _ in range(COPILOTS) for version in _versions()]
    for version in versions[:: 2 * VERSIONS]:
        _price(version)
    keys = [f"key:{make_key(f'Desk {one}')[0].pk}" for one in range(20)]
    began = time.monotonic()
    filling = filler(versions, ["anonymous", *keys])
    filling.fill(max(0, turns - LONG) // TURNS // times, say=_say)
    if times > 1:
        multiply(times, say=_say)
    filling.converse(LONG)
    print(f"filled in {time.monotonic() - began:.0f} s")
    analyze(vacuum=True)
    return _turns()


def _turns() -> int:
    from copilot_admin.models import Turn

    return Turn.objects.count()


def _versions() -> "Iterator[Any]":
    """The versions of a new copilot."""
    from copilot_admin.copilots.publishing import publish
    from tests.factories import make_copilot

    copilot = make_copilot()
    for number in range(VERSIONS):
        copilot.model = f"published-{number}"
        copilot.save()
        yield publish(copilot, user=None)


def _price(version: Any) -> None:
    """Gives the models that are asked most a price at the provider of a version."""
    from benchmarks.transcripts import MODELS
    from copilot_admin.models import ModelPrice

    provider = version.copilot.provider
    for model in MODELS[::2]:
        ModelPrice.objects.create(
            provider=provider, model=model, valid_from=date(2026, 1, 1), input=2, output=8
        )


def _timed(name: str, page: str, given: Mapping[str, str], runs: int) -> Measured:
    from django.contrib.auth.models import User
    from django.test import Client

    browser = Client(SERVER_NAME="localhost")
    reader = {"is_superuser": True, "is_staff": True}
    browser.force_login(User.objects.get_or_create(username="benchmark-reader", defaults=reader)[0])
    response: Any = browser.get(page, given)
    assert response.status_code == 200, response
    asked = [_once(browser, page, given) for _ in range(runs)]
    return Measured(
        name=name,
        median_ms=median(one.wall for one in asked),
        shortest_ms=min(one.wall for one in asked),
        cpu_ms=min(one.cpu for one in asked),
        database_ms=min(one.database for one in asked),
        queries=asked[-1].queries,
        rows=response.content.count(b"ca-first-question"),
    )


@dataclass(slots=True)
class Once:
    """One page: seconds become milliseconds; called by Django around each query."""

    wall: float = 0.0
    cpu: float = 0.0
    database: float = 0.0
    queries: int = 0

    def __call__(self, execute: Any, *query: Any) -> Any:
        """Executes a query and counts its time."""
        began = time.perf_counter()
        try:
            return execute(*query)
        finally:
            self.database += (time.perf_counter() - began) * 1000
            self.queries += 1


def _once(browser: Any, page: str, given: Mapping[str, str]) -> Once:
    from django.db import connection

    once = Once()
    began, cpu = time.perf_counter(), time.process_time()
    with connection.execute_wrapper(once):
        browser.get(page, given)
    once.wall = (time.perf_counter() - began) * 1000
    once.cpu = (time.process_time() - cpu) * 1000
    return once


def _bytes(folder: Path) -> int:
    """What the database takes on the disk."""
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_database_size(current_database())")
            return int(cursor.fetchone()[0])
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return sum(file.stat().st_size for file in folder.rglob("*.sqlite3*"))


def _close() -> None:
    from django.db import connections

    connections.close_all()


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
