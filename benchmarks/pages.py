"""Pages of the admin over many transcripts: server time of each, and the space of a turn on disk.

With `DATABASE_URL` a new database on that PostgreSQL server is used, otherwise SQLite. Filling takes
about 6 ms a turn, so `--keep FOLDER` fills a data directory (or the very database of `DATABASE_URL`)
once and measures it again.
"""

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
import os
from pathlib import Path
from statistics import median
import tempfile
import time
from typing import Any

from benchmarks.databases import new_database
from benchmarks.servers import Say

RUNS = 7
COPILOTS, VERSIONS = 50, 3
MAX_TURNS = 100  # of the longest conversation
LIST = "/admin/copilot_admin/conversation/"
Page = tuple[str, str, Mapping[str, str]]


def measure(messages: int, *, keep: str | None, say: Say) -> tuple[dict[str, float], float]:
    """Return the median milliseconds of each page and the bytes of a turn on disk."""
    server = os.environ.get("DATABASE_URL", "")
    own = new_database(server) if server and not keep else nullcontext(server)
    with nullcontext(keep) if keep else tempfile.TemporaryDirectory() as folder, own as url:
        os.environ["COPILOT_DATA_DIR"] = folder
        os.environ["DATABASE_URL"] = url
        os.environ["DJANGO_SETTINGS_MODULE"] = "copilot_admin.settings"
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connections

        from copilot_admin.models import Turn

        try:
            call_command("migrate", verbosity=0)
            if not Turn.objects.exists():
                _fill(messages // 2, say)
            turns = Turn.objects.count()
            say(f"{connections['default'].vendor}: {2 * turns:,} messages")
            browser = _browser()
            page_ms = {name: _time(browser, path, query) for name, path, query in _pages()}
            return page_ms, _bytes_on_disk(Path(folder)) / turns
        finally:
            connections.close_all()


def _fill(turns: int, say: Say) -> None:
    from benchmarks.transcripts import TURNS, analyze, make_filler
    from copilot_admin.copilots.publishing import publish
    from tests.factories import make_copilot, make_key

    versions = []
    for _ in range(COPILOTS):
        copilot = make_copilot()
        for number in range(VERSIONS):
            copilot.model = f"published-{number}"
            copilot.save()
            versions.append(publish(copilot, user=None))
    keys = [f"key:{make_key(f'Desk {one}')[0].pk}" for one in range(20)]
    began = time.monotonic()
    filler = make_filler(versions, ["anonymous", *keys])
    filler.fill(max(0, turns - MAX_TURNS) // TURNS, say=say)
    filler.add_long_conversation(MAX_TURNS)
    analyze()
    say(f"filled in {time.monotonic() - began:.0f} s")


def _pages() -> Iterator[Page]:
    from benchmarks.transcripts import COMMON, MIDDLE, RARE
    from copilot_admin.models import Conversation, Copilot, EndpointKey, Run

    copilot = Copilot.objects.order_by("pk")[0]
    key = EndpointKey.objects.order_by("pk")[0]
    yield "the default list", LIST, {}
    filters = {
        "copilot": copilot.slug,
        "version": "1",
        "model": "model-3",
        "caller": f"key:{key.pk}",
        "user": "user-7",
        "days": "90",
        "outcome": "failed",
        "error": "no-model",
        "judged": "down",
        "state": "done",
        "tokens-from": "30000",
    }
    for name, value in filters.items():
        yield f"the filter {name}", LIST, {name: value}
    searches = {
        "a common word": COMMON,
        "a word of one turn in a hundred": MIDDLE,
        "a rare word": RARE,
        "a word that is nowhere": "quetzalcoatl",
        "the id of a run": str(Run.objects.values_list("pk", flat=True)[0]),
        "a trace id": "trace-1",
    }
    for name, value in searches.items():
        yield f"the search for {name}", LIST, {"q": value}
    longest = Conversation.objects.order_by("-n_turns")[0]
    yield f"a conversation of {longest.n_turns} turns", f"{LIST}{longest.pk}/change/", {}
    yield "the analytics of 90 days", "/admin/analytics/", {"days": "90"}


def _browser() -> Any:
    from django.contrib.auth.models import User
    from django.test import Client

    browser = Client(SERVER_NAME="localhost")
    reader = {"is_superuser": True, "is_staff": True}
    browser.force_login(User.objects.get_or_create(username="benchmark-reader", defaults=reader)[0])
    return browser


def _time(browser: Any, path: str, query: Mapping[str, str]) -> float:
    """Return the median milliseconds of a page after a first request."""
    response = browser.get(path, query)
    if response.status_code != 200:
        raise RuntimeError(f"{path} {query} answered {response.status_code}")
    times = []
    for _ in range(RUNS):
        began = time.perf_counter()
        browser.get(path, query)
        times.append((time.perf_counter() - began) * 1000)
    return median(times)


def _bytes_on_disk(folder: Path) -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_database_size(current_database())")
            return int(cursor.fetchone()[0])
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return sum(file.stat().st_size for file in folder.rglob("*.sqlite3*"))
