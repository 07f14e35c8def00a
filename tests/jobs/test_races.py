"""Holds and references that come during a deletion; with two connections to PostgreSQL."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from django.core.management import call_command
from django.db import connection, connections, transaction
from django.utils import timezone
import pytest

from copilot_admin.jobs import deletion
from copilot_admin.jobs.blob_sweep import get_unreferenced_blobs
from copilot_admin.jobs.removal import begin_erasure, remove_batch
from copilot_admin.jobs.tasks import BatchResult
from copilot_admin.models import Conversation, Copilot, LegalHold, Node, NodeKind, NodeRole
from copilot_admin.privacy import holds
from copilot_admin.privacy.scopes import PrivacyScope
from copilot_admin.storage import blobs
from copilot_admin.storage.blobs import load, to_blob
from tests.databases import on_postgresql
from tests.factories import make_published
from tests.polling import HANGS_SECONDS, eventually
from tests.transcripts.store.journaling import Client

pytestmark = [pytest.mark.database, on_postgresql, pytest.mark.django_db(transaction=True)]
SCOPE = PrivacyScope(principal="anonymous")
VALUE: Any = {"rows": [{"day": day, "word": "x" * 200} for day in range(100)]}


@pytest.fixture
def thread() -> Iterator[ThreadPoolExecutor]:
    """A thread with a connection of its own."""
    with ThreadPoolExecutor(1) as executor:
        yield executor
        executor.submit(connections.close_all).result(HANGS_SECONDS)


def somebody_waits() -> bool:
    """Return whether a statement waits for another transaction."""
    with connection.cursor() as cursor:
        # Within a transaction, PostgreSQL answers from what the first query saw.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return bool(cursor.fetchone()[0])


class TestHolds:
    @pytest.fixture
    def copilot(self) -> Copilot:
        """One that is being deleted, and of which somebody has asked."""
        asked = Client().ask("Hi").answer("Hello")
        deletion.mark_for_deletion([asked.conversation.copilot_id])
        return Copilot.objects.get()

    def place(self) -> LegalHold:
        return holds.place(SCOPE, reason="Case 12", by="ann")

    def test_a_hold_waits_for_the_batch_and_the_next_one_for_the_hold(self, thread, copilot):
        with transaction.atomic():
            assert deletion.delete_batch(copilot.pk) is BatchResult.MORE
            placing = thread.submit(self.place)
            assert eventually(somebody_waits)
            assert not placing.done()
        assert placing.result(HANGS_SECONDS).pk

    def test_nothing_is_removed_while_a_hold_is_being_placed(self, thread, copilot):
        removal = begin_erasure(SCOPE, reason="asked for")
        with transaction.atomic():
            self.place()
            for batch in (
                partial(deletion.delete_batch, copilot.pk),
                partial(remove_batch, removal.pk),
            ):
                result = thread.submit(transaction.atomic(batch)).result(HANGS_SECONDS)
                assert result is BatchResult.WAITING
        with transaction.atomic():
            assert deletion.delete_batch(copilot.pk) is BatchResult.WAITING
        assert Conversation.objects.count() == 1


def test_a_sweep_leaves_a_blob_that_a_question_is_about_to_use(thread):
    blob, now = to_blob(VALUE), timezone.now()
    blobs.save([blob])
    conversation = Conversation.objects.create(
        copilot=make_published(), principal="anonymous", first_at=now, last_at=now
    )
    assert get_unreferenced_blobs().count() == 1
    with transaction.atomic():
        blobs.save([blob])
        Node.objects.create(
            conversation=conversation, depth=0, role=NodeRole.HUMAN, kind=NodeKind.TEXT,
            blob_id=blob.sha, chain_hash="c", client_hash="c", created_at=now,
        )  # fmt: skip
        thread.submit(call_command, "sweep").result(HANGS_SECONDS)
    assert list(load([blob.sha]).values()) == [VALUE]
    assert not get_unreferenced_blobs().exists()
