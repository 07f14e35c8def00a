"""A blob without a referrer gets one while it is swept; with two connections to PostgreSQL."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
import threading
from typing import Any

from django.core.management import call_command
from django.db import connection, connections, transaction
from django.utils import timezone
import pytest

from copilot_admin.jobs.blob_sweep import Sweep, get_unreferenced_blobs, sweep_batch
from copilot_admin.management.commands import sweep as command
from copilot_admin.models import Conversation, Node, NodeKind, NodeRole
from copilot_admin.storage import blobs
from copilot_admin.storage.blobs import load, to_blob
from copilot_admin.storage.writer import WRITER
from tests.databases import on_postgresql
from tests.factories import make_published
from tests.polling import HANGS_SECONDS, eventually

pytestmark = [pytest.mark.database, on_postgresql, pytest.mark.django_db(transaction=True)]
VALUE: Any = {"rows": [{"day": day, "word": "x" * 200} for day in range(100)]}


@pytest.fixture(autouse=True)
def _orphans() -> None:
    """A blob to which nothing refers any more."""
    blobs.save([to_blob(VALUE)])
    assert get_unreferenced_blobs().count() == 1


@pytest.fixture
def thread() -> Iterator[ThreadPoolExecutor]:
    """A thread with a connection of its own."""
    with ThreadPoolExecutor(1) as executor:
        yield executor
        executor.submit(connections.close_all).result(HANGS_SECONDS)


class Steps:
    """Lets a thread go on when the test says so; what is done once more is not stopped again."""

    def __init__(self) -> None:
        self.reached, self.go = threading.Event(), threading.Event()

    def wait(self) -> None:
        self.reached.set()
        assert self.go.wait(HANGS_SECONDS)


@contextmanager
def stopped(steps: Steps) -> Iterator[None]:
    """A block while a thread waits."""
    assert steps.reached.wait(HANGS_SECONDS)
    try:
        yield
    finally:
        steps.go.set()


def referring(then: Callable[[], None]) -> Callable[[], int]:
    """A job that stores a message with the blob, as a question does."""
    now = timezone.now()
    conversation = Conversation.objects.create(
        copilot=make_published(), principal="anonymous", first_at=now, last_at=now
    )

    def job() -> int:
        blob = to_blob(VALUE)
        blobs.save([blob])
        node = Node.objects.create(
            conversation=conversation,
            depth=0,
            role=NodeRole.HUMAN,
            kind=NodeKind.TEXT,
            blob_id=blob.sha,
            chain_hash="c",
            client_hash="c",
            created_at=now,
        )
        then()
        return node.pk

    return job


def somebody_waits() -> bool:
    """Return whether a statement waits for another transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return bool(cursor.fetchone()[0])


def assert_whole(stored: "Future[int]") -> None:
    """The message is there with its blob, and all that is there is referred to."""
    node = Node.objects.get(pk=stored.result(HANGS_SECONDS))
    assert list(load([node.blob_id]).values()) == [VALUE]
    assert not get_unreferenced_blobs().exists()


def sweep_by_server() -> None:
    state = Sweep()
    while not state.is_done:
        state = WRITER.submit(partial(sweep_batch, state)).result(HANGS_SECONDS)


@pytest.mark.parametrize("sweep", [partial(call_command, "sweep"), sweep_by_server])
def test_a_sweep_leaves_a_blob_that_a_question_is_about_to_use(thread, sweep):
    steps = Steps()
    ask = referring(steps.wait)

    def asked() -> Any:
        with transaction.atomic():
            return ask()

    with ThreadPoolExecutor(1) as other:
        stored = other.submit(asked)
        with stopped(steps):  # it has found the blob, and refers to it
            thread.submit(sweep).result(HANGS_SECONDS)
        assert_whole(stored)
        other.submit(connections.close_all).result(HANGS_SECONDS)


def test_a_request_that_waits_for_the_sweep_stores_the_blob_again(thread, monkeypatch):
    steps = Steps()

    def batch(state: Sweep) -> Sweep:
        state = sweep_batch(state)
        steps.wait()
        return state

    monkeypatch.setattr(command, "sweep_batch", batch)
    sweeping_on = thread.submit(call_command, "sweep")
    with stopped(steps):  # the blob is deleted, but not yet for others
        stored = WRITER.submit(referring(lambda: None))
        assert eventually(somebody_waits)
        assert not stored.done()
    sweeping_on.result(HANGS_SECONDS)
    assert_whole(stored)
