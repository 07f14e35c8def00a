"""Deletes a copilot with many conversations while somebody else asks, and says what it cost.

With DATABASE_URL it runs on PostgreSQL (in a database of its own on that server), else on SQLite.
The bystander is the journal alone: it opens and ends a run of another copilot, again and again, and
waits for each commit as an answer does.
"""

from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
import os
import resource
import sys
import tempfile
import threading
import time

from benchmarks.databases import new_database

BYSTANDER_PAUSE = 0.05  # seconds between two questions
HISTORY = 2000  # messages of the longest chat that is taken


def main(arguments: Sequence[str]) -> None:
    """Fills a new database, deletes, prints."""
    parser = ArgumentParser(prog="python -m benchmarks.deletion", description=__doc__)
    parser.add_argument("conversations", type=int, nargs="?", default=50_000)
    conversations = parser.parse_args(arguments).conversations
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COPILOT_DATA_DIR"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "copilot_admin.settings"
        server = os.environ.get("DATABASE_URL", "")
        with new_database(server) if server else nullcontext("") as url:
            os.environ["DATABASE_URL"] = url
            try:
                _measure(conversations)
            finally:
                _close()


def _measure(conversations: int) -> None:
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from benchmarks.filling import fill
    from benchmarks.planning import analyze
    from copilot_admin.jobs import background, deletion, sweeping, tasks
    from copilot_admin.models import Blob, Conversation, Copilot
    from copilot_admin.storage.writer import WRITER
    from tests.factories import make_version

    call_command("migrate", verbosity=0)
    gone, stays = make_version(), make_version()
    fill(gone, conversations)
    analyze()
    rows = {"conversations": Conversation.objects.count(), "blobs": Blob.objects.count()}
    print(f"{connection.vendor}: {rows}")
    _history(stays)
    batches: list[float] = []
    used: list[float] = []
    vars(tasks)["delete_batch"] = _timed(deletion.delete_batch, batches, used)
    vars(tasks)["sweep_batch"] = _timed(sweeping.sweep_batch, batches, used)
    quiet = _bystander(stays, until=threading.Event(), most=60)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done, waits = threading.Event(), list[float]()
    asking = threading.Thread(target=lambda: waits.extend(_bystander(stays, until=done)))
    asking.start()
    began = time.perf_counter()
    tasks.delete_in_background([gone.copilot_id])
    marked = time.perf_counter() - began
    deleted = None
    while not background.BACKGROUND.wait_until_idle(timeout=0.2):
        if deleted is None and not Copilot.objects.filter(pk=gone.copilot_id).exists():
            deleted = time.perf_counter() - began
    swept = time.perf_counter() - began
    done.set()
    asking.join()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    left = sweeping.without_referrer().count()
    print(
        f"off after {marked * 1000:.0f} ms, deleted after {deleted or swept:.1f} s, "
        f"swept after {swept:.1f} s"
    )
    print(
        f"batches {len(batches)}: p50 {_percentile(batches, 50) * 1000:.0f} ms, "
        f"p99 {_percentile(batches, 99) * 1000:.0f} ms, longest {max(batches) * 1000:.0f} ms; "
        f"processor time p50 {_percentile(used, 50) * 1000:.0f} ms, "
        f"p99 {_percentile(used, 99) * 1000:.0f} ms, longest {max(used) * 1000:.0f} ms"
    )
    print(f"memory {peak // 1024} MB at the most, {(peak - before) // 1024} MB more than before")
    print(
        f"bystander alone: p50 {_percentile(quiet, 50) * 1000:.0f} ms, "
        f"p99 {_percentile(quiet, 99) * 1000:.0f} ms; meanwhile {len(waits)} questions: "
        f"p50 {_percentile(waits, 50) * 1000:.0f} ms, p99 {_percentile(waits, 99) * 1000:.0f} ms, "
        f"longest {max(waits) * 1000:.0f} ms"
    )
    print(f"blobs without a referrer: {left}")
    background.stop(timeout=60)
    WRITER.stop(timeout=60)


def _timed(job, times: list[float], used: list[float]):
    def timed(*args):
        began, had_used = time.perf_counter(), time.thread_time()
        try:
            return job(*args)
        finally:
            times.append(time.perf_counter() - began)
            used.append(time.thread_time() - had_used)

    return timed


def _bystander(version, *, until: threading.Event, most: int | None = None) -> list[float]:
    """Seconds until each question and its answer were committed."""
    from copilot_admin.storage.writer import WRITER
    from copilot_admin.transcripts.store.finishing import finish
    from copilot_admin.transcripts.store.opening import accept, prepare
    from copilot_admin.transcripts.store.sealing import seal
    from protocol.events import MessageChunk
    from tests.transcripts.store.journaling import Client, record_of

    client, waits = Client(version=version), list[float]()
    while not until.wait(BYSTANDER_PAUSE) and (most is None or len(waits) < most):
        opening = client.opening(f"Question {len(waits)}")
        prepared = prepare(opening)
        record = record_of(MessageChunk("An answer"), keep_content=True)
        sealed = seal(record, run_id=opening.run_id, at=opening.started_at)
        for job in (partial(accept, prepared), partial(finish, sealed)):
            began = time.perf_counter()
            WRITER.submit(job).result()
            waits.append(time.perf_counter() - began)
    return waits


def _history(version) -> None:
    """What the longest chat costs the writer that the server has never seen."""
    from copilot_admin.storage.writer import WRITER
    from copilot_admin.transcripts.store.opening import accept, prepare
    from tests.transcripts.store.journaling import Client, ai, human

    said = [
        human(f"Question {one} {'word ' * 20}") if one % 2 == 0 else ai(f"{one} {'text ' * 80}")
        for one in range(HISTORY - 1)
    ]
    wall, cpu = [], []

    def timed(prepared):
        began, used = time.perf_counter(), time.thread_time()
        accept(prepared)
        wall.append(time.perf_counter() - began)
        cpu.append(time.thread_time() - used)

    for number in range(5):
        client = Client(version=version, trace_id=f"long {number}")
        prepared = prepare(client.opening(human(f"Chat {number}"), *said[1:], "And now?"))
        WRITER.submit(partial(timed, prepared)).result()
    print(
        f"a history of {HISTORY}: the writer {sorted(wall)[2] * 1000:.0f} ms, "
        f"of which processor time {sorted(cpu)[2] * 1000:.0f} ms (median of 5)"
    )


def _percentile(values: list[float], share: int) -> float:
    return sorted(values)[max(0, -(-len(values) * share // 100) - 1)]


def _close() -> None:
    from django.db import connections

    connections.close_all()


if __name__ == "__main__":
    main(sys.argv[1:])
