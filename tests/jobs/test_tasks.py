"""Background tasks: on a thread of the server, or in the database for a worker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from django.core.management import CommandError, call_command
from django.utils import timezone
from django_tasks import task
from django_tasks_db.models import DBTaskResult
import pytest

from copilot_admin.jobs import blob_sweep, deletion, removal, tasks
from copilot_admin.jobs.removal import begin_erasure, remove
from copilot_admin.jobs.tasks import BACKGROUND, BatchResult
from copilot_admin.models import Cause, Copilot, Removal, RemovalState
from copilot_admin.privacy.scopes import PrivacyScope
from tests.factories import make_copilot, make_published
from tests.polling import HANGS_SECONDS

IN_DATABASE = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
pytestmark = pytest.mark.django_db(transaction=True)


EVENTS: list[asyncio.Event] = []


@task
async def wait_for_event() -> None:
    begun, go_on = EVENTS
    begun.set()
    await go_on.wait()


def wait_until_idle() -> None:
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)


@pytest.fixture
def marked() -> Copilot:
    copilot = make_published()
    deletion.mark_for_deletion([copilot.pk])
    return copilot


class TestWorker:
    @pytest.fixture(autouse=True)
    def _in_database(self, settings):
        settings.TASKS, settings.BACKGROUND = IN_DATABASE, "database"

    def test_runs_tasks_of_the_database(self):
        copilot = make_published()
        deletion.delete_in_background([copilot.pk])
        assert DBTaskResult.objects.ready().count() == 1
        assert Copilot.objects.get().is_being_deleted
        call_command("worker", batch=True, interval=0, startup_delay=False, verbosity=0)
        assert not Copilot.objects.exists()
        assert DBTaskResult.objects.successful().count() == DBTaskResult.objects.count() == 2

    def test_rejects_a_server_that_runs_its_own_tasks(self, settings):
        settings.BACKGROUND = "process"
        with pytest.raises(CommandError, match="COPILOT_TASKS=database"):
            call_command("worker")


class TestThread:
    def test_stops_after_a_batch(self, marked, monkeypatch):
        monkeypatch.setattr(deletion, "delete_batch", lambda pk: BatchResult.MORE)
        deletion.delete_copilot.enqueue(marked.pk)
        assert tasks.stop(timeout=HANGS_SECONDS)
        assert Copilot.objects.exists()
        tasks.start()

    def test_a_sweep_continues_where_it_was(self, monkeypatch):
        seen = []

        def sweep_batch(after):
            seen.append(after)
            return "b" if len(seen) < 3 else "", 0

        monkeypatch.setattr(blob_sweep, "sweep_batch", sweep_batch)
        monkeypatch.setattr(tasks, "MAX_TASK_SECONDS", 0)
        blob_sweep.enqueue_blob_sweep()
        wait_until_idle()
        assert seen == ["", "b", "b"]


class TestClearingFiles:
    @pytest.fixture
    def merged(self, monkeypatch):
        """Calls that merge a search index, which takes five; True begins a merge."""
        calls: list[bool] = []

        def merge(*, is_first: bool) -> bool:
            calls.append(is_first)
            return calls[::-1].index(True) >= 4

        monkeypatch.setattr(removal, "merge_search_index", merge)
        return calls

    def test_a_large_index_is_merged_by_several_tasks(self, merged, monkeypatch):
        monkeypatch.setattr(tasks, "MAX_TASK_SECONDS", 0)
        row = begin_erasure(PrivacyScope(principal="key:7"))
        remove.enqueue(row.pk)
        wait_until_idle()
        row.refresh_from_db()
        assert (row.state, merged) == (RemovalState.DONE, [True] + [False] * 4)

    @pytest.mark.parametrize(
        ("deleted", "merges"), [(({}, {}), 0), (({"Turn": 1}, {}), 1), (({"Turn": 1},) * 2, 1)]
    )
    def test_removals_of_a_night_merge_once_if_rows_were_deleted(self, merged, deleted, merges):
        rows = [
            Removal.objects.create(
                cause=Cause.RETENTION,
                copilot=make_copilot(slug=f"c{number}").pk,
                day=timezone.localdate(),
                idle_before=timezone.now() - timedelta(days=9),
                counts=counts,
                moved_at=timezone.now(),
            )
            for number, counts in enumerate(deleted)
        ]
        for row in rows:
            remove.enqueue(row.pk)
            wait_until_idle()
        assert merged.count(True) == merges
        assert set(Removal.objects.values_list("state", flat=True)) == {RemovalState.DONE}


class TestServerLoop:
    @asynccontextmanager
    async def serve(self) -> AsyncIterator[None]:
        tasks.start(asyncio.get_running_loop())
        yield
        await tasks.stop_coroutines()
        assert await asyncio.to_thread(tasks.stop, timeout=HANGS_SECONDS)

    def test_the_thread_continues_while_a_coroutine_waits(self):
        async def main() -> None:
            async with self.serve():
                EVENTS[:] = begun, go_on = asyncio.Event(), asyncio.Event()
                BACKGROUND.submit(wait_for_event.enqueue)
                await begun.wait()
                assert BACKGROUND.submit(lambda: "done").result(HANGS_SECONDS) == "done"
                assert tasks.has_server_loop() and tasks._coroutines
                go_on.set()
            assert not (tasks.has_server_loop() or tasks._coroutines)

        asyncio.run(main())
