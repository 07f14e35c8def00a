"""SQLite gets a large text as bytes, which its driver does not write at once, and keeps it as a text."""

from typing import Any

from django.db import DataError, connection, transaction
from django.utils import timezone
import pytest

from copilot_admin.models import Conversation, Node
from copilot_admin.storage.large_values import LARGE
from copilot_admin.storage.statements import Insert
from tests.databases import IS_POSTGRESQL
from tests.factories import make_version

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(IS_POSTGRESQL, reason="PostgreSQL is sent the value beside the statement"),
]
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


def handed_over(text: str) -> tuple[Any, int]:
    """What the driver is given, and the id of the row."""
    given: list[Any] = []

    def listen(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        given.extend(one for one in params if one in (text, text.encode()))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(listen):
        row = stored(text)
    return given[0], row


@pytest.mark.parametrize(
    ("text", "type_"),
    [("年" * LARGE, str), ("年" * (LARGE + 1), bytes), ("a" * (LARGE + 1), str), ("é", str)],
)
def test_a_large_text_of_other_letters_is_given_as_bytes_and_kept_as_text(text, type_):
    given, row = handed_over(text)
    assert type(given) is type_
    assert Node.objects.get(pk=row).text == text
    with connection.cursor() as cursor:
        cursor.execute("SELECT typeof(text), length(text) FROM copilot_admin_node")
        assert cursor.fetchone() == ("text", len(text))


def test_one_with_a_nul_is_refused_as_any_other_is():
    with pytest.raises(DataError, match="NUL"), transaction.atomic():
        stored("年" * LARGE + "\0")
    assert not Node.objects.exists()
