"""Fills a journal and says how long the list of transcripts, its search and the figures take.

    python -m benchmarks.review [--messages N] [--runs N]

With DATABASE_URL it runs on PostgreSQL (in a database of its own on that server), else on SQLite.
What counts is the server's time for a page, the median of some runs after a first one; beside it the
longest. The last line says what a turn takes on the disk, with its indexes.
"""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
import os
from pathlib import Path
from statistics import median
import sys
import tempfile
import time
from typing import Any

from benchmarks.databases import new_database

LIST = "/admin/copilot_admin/conversation/"
FIGURES = "/admin/figures/"
MOST_MS = {"postgresql": 150.0, "sqlite": 250.0}
MOST_BYTES = 12_000  # of a turn
MESSAGES = {"postgresql": 1_000_000, "sqlite": 250_000}
COPILOTS = 50


@dataclass(frozen=True, slots=True)
class Measured:
    """How long one page took, in milliseconds, and how many rows it showed."""

    name: str
    median_ms: float
    longest_ms: float
    rows: int


def main(arguments: Sequence[str]) -> int:
    """Fills, measures, prints; the status says whether the bounds are kept."""
    parser = ArgumentParser(prog="python -m benchmarks.review", description=__doc__)
    parser.add_argument("--messages", type=int, help="questions and answers together")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COPILOT_DATA_DIR"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "copilot_admin.settings"
        server = os.environ.get("DATABASE_URL", "")
        with new_database(server) if server else nullcontext("") as url:
            os.environ["DATABASE_URL"] = url
            try:
                return _measure(Path(folder), messages=options.messages, runs=options.runs)
            finally:
                _close()


def _measure(folder: Path, *, messages: int | None, runs: int) -> int:
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    vendor = connection.vendor
    turns = _fill((messages or MESSAGES[vendor]) // 2)
    size = _bytes(folder) / turns
    measured = [_timed(name, LIST, given, runs) for name, given in _pages()]
    measured += [_timed(name, FIGURES, given, runs) for name, given in _figures()]
    measured += [_timed(f"behind {name}", LIST, given, runs) for name, given in _behind()]
    print(f"\n{vendor}: {2 * turns:,} messages\n\n| page | rows | median | longest |")
    print("|---|---|---|---|")
    for one in measured:
        print(f"| {one.name} | {one.rows} | {one.median_ms:.0f} ms | {one.longest_ms:.0f} ms |")
    print(f"\n{size / 1000:.1f} kB a turn, at most {MOST_BYTES / 1000:.0f}")
    slow = [one.name for one in measured if one.median_ms > MOST_MS[vendor]]
    print(f"longer than {MOST_MS[vendor]:.0f} ms: {', '.join(slow) or 'none'}")
    return int(bool(slow) or size > MOST_BYTES)


def _fill(turns: int) -> int:
    from django.db import connection

    from benchmarks.transcripts import TURNS, filler
    from copilot_admin.models import Turn
    from tests.factories import make_key, make_version

    versions = [make_version() for _ in range(COPILOTS)]
    keys = [f"key:{make_key(f'Desk {one}')[0].pk}" for one in range(20)]
    began = time.monotonic()
    filler(versions, ["anonymous", *keys]).fill(turns // TURNS, say=_say)
    print(f"filled in {time.monotonic() - began:.0f} s")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
    return Turn.objects.count()


def _pages() -> Iterator[tuple[str, Mapping[str, str]]]:
    from benchmarks.transcripts import COMMON, CYRILLIC, MIDDLE, RARE
    from copilot_admin.models import Conversation, Copilot, EndpointKey, Run

    copilot = Copilot.objects.order_by("pk")[0]
    middle = Conversation.objects.order_by("last_at")[Conversation.objects.count() // 2]
    key = EndpointKey.objects.order_by("pk")[0]
    place = f"{int(middle.last_at.timestamp()) * 1_000_000}-{middle.pk}"
    yield "list", {}
    yield "list, from its middle", {"older": place}
    for name, value in {
        "copilot": copilot.slug,
        "version": "1",
        "model": "model-0",
        "provider": "Provider 1",
        "caller": f"key:{key.pk}",
        "days": "90",
        "until": "2026-09-15",
        "outcome": "failed",
        "error": "no-model",
        "judged": "down",
        "reason": "Slow",
        "tokens-from": "30000",
        "ttft-from": "3.99",
        "call": "yes",
        "branch": "yes",
        "file": "yes",
    }.items():
        yield f"filter: {name}", {name: value}
    yield "filter: a rare model", {"model": "model-39"}
    yield "filter: a model that nobody has", {"model": "none"}
    yield "search: common", {"q": COMMON}
    yield "search: one in a hundred turns", {"q": MIDDLE}
    yield "search: rare", {"q": RARE}
    yield "search: another alphabet", {"q": CYRILLIC}
    yield "search: no hit", {"q": "quetzalcoatl"}
    yield "search: a phrase without a hit", {"q": '"market market"'}
    yield "search: two signs", {"q": "zz"}
    yield "search: rare, with a filter", {"q": RARE, "copilot": copilot.slug}
    yield "search: a run's id", {"q": str(Run.objects.values_list("pk", flat=True)[0])}
    yield "search: a trace id", {"q": "trace-1"}
    yield "search: a conversation's number", {"q": f"#{middle.pk}"}


def _figures() -> Iterator[tuple[str, Mapping[str, str]]]:
    from copilot_admin.models import Copilot

    for days in ("1", "7", "30", "90"):
        yield f"figures of {days} days", {"days": days}
    yield "figures of dates long ago", {"since": "2026-08-25", "until": "2026-09-20"}
    copilot = Copilot.objects.order_by("pk")[0]
    yield "figures of one copilot", {"days": "90", "copilot": copilot.slug}


def _behind() -> Iterator[tuple[str, Mapping[str, str]]]:
    for what in (
        "questions", "conversations", "errors", "error:no-model", "slower:3500", "up", "unpriced",
    ):  # fmt: skip
        yield f"{what}, a month", {"counted": f"{what} 2026-10-20 2026-11-20"}
    yield "conversations, long ago", {"counted": "conversations 2026-08-25 2026-09-01"}
    yield "cancelled, of which there are none", {"counted": "cancelled 2026-10-20 2026-11-20"}


def _timed(name: str, page: str, given: Mapping[str, str], runs: int) -> Measured:
    from django.test import Client

    from tests.factories import make_user

    browser = Client(SERVER_NAME="localhost")
    browser.force_login(make_user(is_superuser=True))
    response: Any = browser.get(page, given)
    assert response.status_code == 200, response
    took = []
    for _ in range(runs):
        began = time.perf_counter()
        response = browser.get(page, given)
        took.append((time.perf_counter() - began) * 1000)
    rows = response.content.count(b"ca-first-question")
    return Measured(name, median(took), max(took), rows)


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
