"""A hold is placed while a batch of a removal is under way; with two connections to PostgreSQL."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from django.db import connection, connections, transaction
import pytest

from copilot_admin.jobs import deletion
from copilot_admin.jobs.removal import begin_erasure, remove_batch
from copilot_admin.jobs.tasks import BatchResult
from copilot_admin.models import Conversation, Copilot, LegalHold
from copilot_admin.privacy import holds
from copilot_admin.privacy.scopes import PrivacyScope
from tests.databases import on_postgresql
from tests.polling import HANGS_SECONDS, eventually
from tests.transcripts.store.journaling import Client

pytestmark = [pytest.mark.database, on_postgresql, pytest.mark.django_db(transaction=True)]
SCOPE = PrivacyScope(principal="anonymous")


@pytest.fixture
def thread() -> Iterator[ThreadPoolExecutor]:
    """A thread with a connection of its own."""
    with ThreadPoolExecutor(1) as executor:
        yield executor
        executor.submit(connections.close_all).result(HANGS_SECONDS)


@pytest.fixture
def copilot() -> Copilot:
    """One that is being deleted, and of which somebody has asked."""
    asked = Client().ask("Hi").answer("Hello")
    deletion.mark_for_deletion([asked.conversation.copilot_id])
    return Copilot.objects.get()


def somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = database "
            "WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted"
        )
        return bool(cursor.fetchall())


def place() -> LegalHold:
    return holds.place(SCOPE, reason="Case 12", by="ann")


def test_a_hold_waits_for_the_batch_and_the_next_one_for_the_hold(thread, copilot):
    with transaction.atomic():
        assert deletion.delete_batch(copilot.pk) is BatchResult.MORE
        placing = thread.submit(place)
        assert eventually(somebody_waits)
        assert not placing.done()
    assert placing.result(HANGS_SECONDS).pk


def test_nothing_is_removed_while_a_hold_is_being_placed(thread, copilot):
    removal = begin_erasure(SCOPE, reason="asked for")
    with transaction.atomic():
        place()
        for batch, waiting in (
            (lambda: deletion.delete_batch(copilot.pk), BatchResult.WAITING),
            (lambda: remove_batch(removal.pk), BatchResult.WAITING),
        ):
            assert thread.submit(transaction.atomic(batch)).result(HANGS_SECONDS) is waiting
    with transaction.atomic():
        assert deletion.delete_batch(copilot.pk) is BatchResult.WAITING
    assert Conversation.objects.count() == 1
