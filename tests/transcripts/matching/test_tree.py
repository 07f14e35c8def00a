"""Stored messages that hang together as none that were stored do."""

from django.db import OperationalError
import pytest

from copilot_admin.models import Node
from copilot_admin.transcripts.matching.finding import _exact_place
from copilot_admin.transcripts.matching.tree import MessageTree, Seen
from copilot_admin.transcripts.queries.tree import read_tree
from protocol.canonical import CanonicalRole, Kind
from tests.transcripts.store.journaling import Client, ai


def message(id: int, parent_id: int | None) -> Seen:
    return Seen(id, 1, parent_id, 0, f"hash-{id}", "", False, CanonicalRole.AI, Kind.TEXT)


@pytest.mark.parametrize("parents", [(1, None), (2, 1), (None, 3, 2)])
def test_messages_in_a_circle_are_an_outage(parents):
    """Whoever looked for their question never arrived: the thread that writes stood still."""
    with pytest.raises(OperationalError, match="came after"):
        MessageTree(message(id, parent) for id, parent in enumerate(parents, 1))


def test_a_message_that_was_not_asked_for_is_an_outage():
    with pytest.raises(OperationalError, match="another message"):
        _exact_place([message(1, None)], {"hash-2": 0})


@pytest.mark.database
@pytest.mark.django_db
def test_a_stored_circle_is_an_outage_for_who_goes_on_and_for_who_reads():
    client = Client(trace_id="one")
    asked = client.ask("Hi").answer("Hello.")
    answer = Node.objects.get(role="ai")
    Node.objects.filter(pk=answer.pk).update(parent_id=answer.pk)
    with pytest.raises(OperationalError, match="came after"):
        client.ask("Hi", ai("Hello."), "And now?")
    with pytest.raises(OperationalError, match="came after"):
        read_tree(asked.conversation)
