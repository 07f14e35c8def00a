"""Fills a journal, exports all of it in each format, and says how much memory that takes.

    python -m benchmarks.export [--turns N] [--database FILE]

Each export runs in a process of its own, as a worker would do it: batch by batch, into the database. What
counts is its memory above what it had when it was idle. Where DATABASE_URL is set it runs on PostgreSQL, in a
database of its own on that server. `--database` keeps a SQLite file, so that it is filled once.
"""

from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import nullcontext
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import time

from benchmarks.databases import new_database

MOST_MB = 60.0  # above idle
TURNS = 100_000
COPILOTS = 10
FORMATS = ("csv", "jsonl", "md", "html")
PAGE = 4096  # bytes, as /proc/self/statm counts


def main(arguments: Sequence[str]) -> int:
    """Fills, exports, prints; the status says whether the bound is kept."""
    parser = ArgumentParser(prog="python -m benchmarks.export", description=__doc__)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--database", type=Path, help="of SQLite; kept")
    parser.add_argument(
        "--one", choices=FORMATS, help="export in this process, and say what it took"
    )
    options = parser.parse_args(arguments)
    if options.one:
        return _export(options.one)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COPILOT_DATA_DIR"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "copilot_admin.settings"
        server = os.environ.get("DATABASE_URL", "")
        own = f"sqlite:///{options.database.resolve()}" if options.database else ""
        with new_database(server) if server else nullcontext(own) as url:
            os.environ["DATABASE_URL"] = url
            return _measure(options.turns)


def _measure(turns: int) -> int:
    here = [sys.executable, "-m", "benchmarks.export"]
    filled = _fill(turns)
    print(f"{filled:,} questions\n\n| format | MB | seconds | idle | above idle |")
    print("|---|---|---|---|---|", flush=True)
    statuses = [subprocess.run([*here, "--one", name], check=False).returncode for name in FORMATS]
    return int(any(statuses))


def _fill(turns: int) -> int:
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connections

    from benchmarks.transcripts import TURNS as IN_A_CONVERSATION
    from benchmarks.transcripts import filler
    from copilot_admin.models import Turn
    from tests.factories import make_version

    call_command("migrate", verbosity=0)
    if not Turn.objects.exists():
        versions = [make_version() for _ in range(COPILOTS)]
        filler(versions, ["anonymous"]).fill(turns // IN_A_CONVERSATION, say=_say)
    number = Turn.objects.count()
    connections.close_all()
    return number


def _export(name: str) -> int:
    """Exports in this process, and prints the row of the table."""
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.db import connections

    from copilot_admin.models import TranscriptExport
    from copilot_admin.storage.writer import WRITER
    from copilot_admin.transcripts.exports.conversations import ExportOptions
    from copilot_admin.transcripts.exports.keeping import begin
    from copilot_admin.transcripts.exports.writing import Writing, WritingStep

    owner, _is_new = User.objects.get_or_create(username="benchmark")
    began, highest = time.monotonic(), 0.0
    export = begin(owner.pk, given={}, name=name, options=ExportOptions(with_data=True))
    assert isinstance(export, TranscriptExport)
    idle = _memory_mb()
    writing = Writing(export.pk, export.claim)
    while writing.batch() is WritingStep.MOVED:
        highest = max(highest, _memory_mb())
    highest = max(highest, _memory_mb())
    export.refresh_from_db()
    took, above = time.monotonic() - began, highest - idle
    assert export.is_done, export.error
    row = f"| {name} | {export.size / 1e6:.0f} | {took:.0f} | {idle:.0f} MB | {above:.1f} MB |"
    _say(row)
    WRITER.stop(timeout=10)
    connections.close_all()
    return int(above > MOST_MB)


def _memory_mb() -> float:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE / 1e6


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
