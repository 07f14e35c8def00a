"""How long the transactions of a pruning are, and what a bystander waits.

It fills a new SQLite file in a temporary folder (or the database of DATABASE_URL), prunes it, and
prints the longest transaction and the longest wait of a job that came between.
"""

from argparse import ArgumentParser
from collections.abc import Sequence
import os
from pathlib import Path
import sys
import tempfile
import threading
import time


def main(arguments: Sequence[str]) -> None:
    """Fills, prunes, prints."""
    parser = ArgumentParser(prog="python -m benchmarks.pruning", description=__doc__)
    parser.add_argument("--conversations", type=int, default=1000)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="pruning-") as folder:
        os.environ.setdefault("COPILOT_DATA_DIR", str(Path(folder) / "data"))
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_admin.settings")
        import django

        django.setup()
        _measure(options.conversations)


def _measure(conversations: int) -> None:
    from django.core.management import call_command
    from django.db import connections
    from django.utils import timezone

    from copilot_admin.jobs import background, tasks
    from copilot_admin.jobs.background import BACKGROUND
    from copilot_admin.models import Copilot, Removal
    from copilot_admin.privacy.retention import begin_now
    from copilot_admin.storage import writer
    from copilot_admin.transcripts.store.probing import probe
    from tests.factories import make_version
    from tests.transcripts.store.journaling import Client, ai

    call_command("migrate", verbosity=0)
    version = make_version()
    for number in range(conversations):
        client = Client(version=version, trace_id=f"chat {number}")
        text = f"Answer {number} " + "with words that are searched " * 40
        client.ask(f"Question {number}").answer(text)
        client.ask(f"Question {number}", ai(text), "And more of it?").answer(text)
    Copilot.objects.update(retention_days=1)
    commits: list[float] = []
    commit = writer._commit

    def timed(batch: object) -> object:
        began = time.perf_counter()
        try:
            return commit(batch)  # type: ignore[arg-type]  # it is handed on
        finally:
            commits.append(time.perf_counter() - began)

    writer._commit = timed  # type: ignore[assignment]  # for this measurement
    background.start()
    removal = begin_now(version.copilot_id, 1, timezone.now().replace(year=2099))
    waits: list[float] = []
    done = threading.Event()

    def stand_by() -> None:
        while not done.wait(0.02):
            began = time.perf_counter()
            writer.WRITER.submit(probe).result()
            waits.append(time.perf_counter() - began)

    bystander = threading.Thread(target=stand_by)
    bystander.start()
    began = time.perf_counter()
    tasks.remove.enqueue(removal.pk)
    while Removal.objects.get(pk=removal.pk).state != "done":
        BACKGROUND.wait_until_idle(timeout=600)
        Removal.objects.exclude(state="done").update(moved_at=None)
        tasks.resume_removals()
    took = time.perf_counter() - began
    done.set()
    bystander.join()
    BACKGROUND.wait_until_idle(timeout=600)
    waits.sort()
    counts = Removal.objects.get(pk=removal.pk).counts
    print(f"{conversations} conversations, {sum(counts.values())} rows: {took:.1f} s")
    print(f"transactions: {len(commits)}, the longest {max(commits) * 1000:.0f} ms")
    print(f"bystander: {len(waits)} jobs, p99 {waits[int(len(waits) * 0.99)] * 1000:.0f} ms, "
          f"the longest {waits[-1] * 1000:.0f} ms")  # fmt: skip
    for thread in (BACKGROUND, writer.WRITER, writer.READER):
        thread.stop(timeout=5)
    connections.close_all()


if __name__ == "__main__":
    main(sys.argv[1:])
