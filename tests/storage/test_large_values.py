"""PostgreSQL gets values of megabytes beside their statements, and nothing is left of them here."""

from random import Random

from django.db import IntegrityError, OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
import pytest

from copilot_admin.models import Blob, Conversation, Node
from copilot_admin.storage import blobs
from copilot_admin.storage.large_values import LARGE, execute_large
from copilot_admin.storage.packing import pack
from copilot_admin.storage.statements import ONE_ROW, Insert
from copilot_admin.storage.writer import WRITER
from tests.factories import make_version
from tests.polling import HANGS_SECONDS

pytestmark = [
    pytest.mark.database,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite takes values as they are"),
]
TEXT = "\U0001f600 'b' \\ %s\n" + "\u00e4" * LARGE
INSERT = Insert(
    Node, returning=("id",), or_existing=("conversation_id", "chain_hash"), large="text"
)


def stored(text: str) -> int:
    at = timezone.now()
    conversation = Conversation.objects.create(
        copilot_id=make_version().copilot_id, principal="p", first_at=at, last_at=at
    )
    row = INSERT(
        conversation_id=conversation.pk,
        depth=0,
        role="human",
        kind="text",
        text=text,
        chain_hash="0" * 32,
        client_hash="0" * 32,
        created_at=at,
    )
    assert row is not None
    return int(row[0])


def noise(size: int, *, seed: int = 1) -> str:
    """A text that no compression makes much shorter."""
    return Random(seed).randbytes(size // 2).hex()


def longest(statements: CaptureQueriesContext) -> int:
    return max(len(one["sql"]) for one in statements)


def server_process() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def test_a_large_text_stands_in_no_statement_and_is_stored_as_it_is():
    with CaptureQueriesContext(connection) as statements:
        node = stored(TEXT)
    assert longest(statements) < LARGE
    assert Node.objects.get(pk=node).text == TEXT


def test_a_large_part_stands_in_no_statement_and_is_stored_as_it_is():
    packed = pack({"text": noise(4 * LARGE)})
    with CaptureQueriesContext(connection) as statements:
        blobs.save([packed])
        blobs.save([packed])
    assert longest(statements) < LARGE
    assert blobs.load([packed.sha]) == {packed.sha: {"text": noise(4 * LARGE)}}


def test_parts_that_are_large_together_are_several_statements():
    value = [{"text": noise(LARGE // 2, seed=seed)} for seed in range(40)]
    packed = pack(value)
    with CaptureQueriesContext(connection) as statements:
        blobs.save([packed])
    assert longest(statements) < 2 * blobs.MOST_BYTES  # the bytes as digits
    assert blobs.load([packed.sha]) == {packed.sha: value}
    assert Blob.objects.count() == len(packed.parts)


@pytest.mark.parametrize(("text", "is_kept"), [("short", True), (TEXT, False)])
def test_a_connection_that_sent_a_large_value_is_not_used_again(text, is_kept):
    with transaction.atomic():
        stored(text)
        before = server_process()
    assert (server_process() == before) is is_kept


@pytest.mark.parametrize(("text", "is_kept"), [("short", True), (TEXT, False)])
def test_nor_is_one_whose_transaction_was_undone(text, is_kept):
    def undone() -> None:
        stored(text)
        raise IntegrityError

    before = WRITER.submit(server_process).result(HANGS_SECONDS)
    with pytest.raises(IntegrityError):
        WRITER.submit(undone).result(HANGS_SECONDS)
    assert (WRITER.submit(server_process).result(HANGS_SECONDS) == before) is is_kept


def test_a_connection_over_which_a_large_value_was_not_taken_is_ended():
    with pytest.raises(OperationalError), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = '10ms'")
        used = connection.connection
        execute_large(connection, "SELECT pg_sleep(60)", [], ONE_ROW)
    assert used.closed
