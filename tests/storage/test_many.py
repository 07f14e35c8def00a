"""Many rows are inserted and deleted in few statements."""

from datetime import UTC, datetime
from pathlib import Path

from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
import pytest

from copilot_admin.models import Conversation, Node
from copilot_admin.storage import many
from copilot_admin.storage.many import InsertMany, by_key, delete_rows, in_batches, reserve_ids
from tests.factories import make_version

pytestmark = pytest.mark.django_db
AT = datetime(2026, 11, 20, 12, 0, 0, 123456, tzinfo=UTC)
INSERT = InsertMany(Conversation, varying=("id", "title", "ttft_ms"))


def insert(*rows, **changes):
    values = {"copilot_id": make_version().copilot_id, "principal": "p", "first_at": AT}
    INSERT(rows, **{**values, "last_at": AT, **changes})


def test_rows_differ_in_what_varies_and_have_the_defaults_else():
    first, second = reserve_ids(Conversation, 2)
    insert((first, "a \U0001f600 'b' \"c\" %s", None), (second, "", 7), n_runs=3)
    rows = Conversation.objects.order_by("id")
    assert list(rows.values_list("id", "title", "ttft_ms", "n_runs", "last_at", "has_error")) == [
        (first, "a \U0001f600 'b' \"c\" %s", None, 3, AT, False),
        (second, "", 7, 3, AT, False),
    ]


def test_a_thousand_rows_are_two_statements_or_a_copy_of_postgresql():
    ids = reserve_ids(Conversation, 1000)
    copilot_id = make_version().copilot_id
    with CaptureQueriesContext(connection) as statements:
        insert(*((one, str(one), None) for one in ids), copilot_id=copilot_id)
    inserts = [one for one in statements if "_conversation" in one["sql"]]
    wanted = (
        0 if connection.vendor == "postgresql" else 2
    )  # a copy is no statement that Django sees
    assert (len(inserts), Conversation.objects.count()) == (wanted, 1000)


def test_reserved_ids_are_given_to_nobody_else():
    version = make_version()
    reserved = reserve_ids(Conversation, 3)
    insert(*((one, "", None) for one in reserved))
    later = Conversation.objects.create(
        copilot_id=version.copilot_id, principal="p", first_at=AT, last_at=AT
    )
    assert later.pk == reserved[-1] + 1 and len(set(reserved)) == 3


def test_no_rows_are_no_statement():
    with CaptureQueriesContext(connection) as statements:
        INSERT([], copilot_id=1, principal="p", first_at=AT, last_at=AT)
        assert delete_rows(Node._meta.get_field("id"), []) == 0
    assert len(statements) == 0


def test_rows_are_deleted_by_the_values_of_a_column():
    ids = reserve_ids(Conversation, 3)
    insert(*((one, str(one), None) for one in ids))
    assert delete_rows(Conversation._meta.get_field("id"), ids[:2]) == 2
    assert list(Conversation.objects.values_list("pk", flat=True)) == ids[2:]


def test_batches_have_their_size_and_the_last_what_is_left():
    assert [list(some) for some in in_batches([1, 2, 3, 4, 5], 2)] == [[1, 2], [3, 4], [5]]


def test_rows_are_read_by_their_keys_a_few_at_a_time():
    ids = reserve_ids(Conversation, 5)
    insert(*((one, str(one), None) for one in ids))
    with CaptureQueriesContext(connection) as statements:
        found = [row.title for row in by_key(Conversation.objects.only("title"), size=2)]
    assert (found, len(statements)) == ([str(one) for one in ids], 3)


def test_rows_whose_keys_go_back_are_an_outage(monkeypatch):
    """They would be read for ever."""
    insert(*((one, "", None) for one in reserve_ids(Conversation, 2)))
    rows = Conversation.objects.order_by("pk")
    monkeypatch.setattr(rows, "order_by", lambda _: Conversation.objects.order_by("-pk"))
    with pytest.raises(OperationalError, match="order"):
        list(by_key(rows))


def test_no_rows_are_read_by_a_cursor_of_the_servers():
    """Nobody looks whether all of them arrive."""
    root = Path(many.__file__).parent.parent
    modules = (one for one in root.rglob("*.py") if "migrations" not in one.parts)
    assert [one.name for one in modules if ".iterator(" in one.read_text()] == []
