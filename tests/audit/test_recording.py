"""An entry is added with a change, tells what differs and no secret, and is chained to the one before."""

from typing import Any

from django.db import DatabaseError, connection, transaction
from django.test import RequestFactory
import pytest

from copilot_admin.audit.chain import compute_hash, signing_key
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.models.audit import Action, ActorKind, AuditEntry, AuditHead, OnlyAdded
from tests.factories import make_copilot, make_provider, make_user

pytestmark = [pytest.mark.database, pytest.mark.django_db]
SERVER = Actor.server()
THING = Subject("copilot", "7", "Macro")


def add(**changes: Any) -> AuditEntry:
    return record(Action.CHANGED, **{"by": SERVER, "on": THING, **changes})


def test_entries_are_numbered_without_gaps_and_each_has_the_hash_of_the_one_before() -> None:
    first, second = add(), add(before={"a": 1}, after={"a": 2})
    stored = list(AuditEntry.objects.order_by("sequence"))
    assert [one.sequence for one in stored] == [1, 2]
    assert (first.previous, second.previous) == ("", first.hash)
    assert [compute_hash(one, signing_key()) for one in stored] == [first.hash, second.hash]
    head = AuditHead.objects.get()
    assert (head.sequence, head.hash, head.at) == (2, second.hash, second.at)


def test_an_entry_of_what_was_rolled_back_is_none() -> None:
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        add()
        raise ZeroDivisionError
    assert not AuditEntry.objects.exists()
    assert add().sequence == 1


def test_neither_a_model_nor_a_query_changes_or_deletes_an_entry() -> None:
    entry = add()
    for attempt in (
        entry.save,
        entry.delete,
        AuditEntry.objects.all().delete,
        lambda: AuditEntry.objects.update(action="read"),
    ):
        with pytest.raises(OnlyAdded, match="neither changed nor deleted"):
            attempt()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE copilot_admin_auditentry SET action = 'read'",
        "DELETE FROM copilot_admin_auditentry",
        "UPDATE copilot_admin_audithead SET sequence = sequence - 1",
        "UPDATE copilot_admin_audithead SET sequence = sequence + 2",
        "DELETE FROM copilot_admin_audithead",
    ],
)
def test_the_database_refuses_what_the_model_refuses(statement: str) -> None:
    add()
    with pytest.raises(DatabaseError, match="neither changed nor deleted"), transaction.atomic():
        connection.cursor().execute(statement)


REPLACING = {
    "sqlite": (
        "REPLACE INTO copilot_admin_auditentry SELECT * FROM copilot_admin_auditentry",
        "REPLACE INTO copilot_admin_audithead (id, sequence, hash) VALUES (1, 0, '')",
    ),
    "postgresql": (
        "TRUNCATE copilot_admin_auditentry",
        "TRUNCATE copilot_admin_audithead",
    ),
}


@pytest.mark.database
@pytest.mark.parametrize("number", [0, 1], ids=["entries", "head"])
def test_nor_does_it_replace_or_empty_the_tables_at_once(number: int) -> None:
    add()
    statement = REPLACING[connection.vendor][number]
    with pytest.raises(DatabaseError, match="neither changed nor deleted"), transaction.atomic():
        connection.cursor().execute(statement)
    add()  # what is meant goes on


def test_an_actor_has_address_session_and_shortened_user_agent() -> None:
    user = make_user()
    request = RequestFactory().get(
        "/", REMOTE_ADDR="192.0.2.7", HTTP_USER_AGENT="Browser\n" + "x" * 300
    )
    request.user = user
    request.session = type("Session", (), {"session_key": "s" * 32})()  # type: ignore[assignment]
    found = Actor.of(request)
    assert found == Actor(
        kind=ActorKind.PERSON,
        name=user.username,
        id=user.pk,
        address="192.0.2.7",
        session="8fd6a6a78f5857d7",
        agent="Browser " + "x" * 192,
    )


def test_a_subject_has_the_name_of_a_row_unless_that_is_what_somebody_asked() -> None:
    provider, copilot = make_provider(name="Bank\u202e"), make_copilot(name="Macro")
    assert Subject.of(provider) == Subject("provider", str(provider.pk), "Bank ")
    assert Subject.of(copilot).kind == "copilot"
