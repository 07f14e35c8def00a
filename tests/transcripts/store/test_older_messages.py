"""What a large request brings of a chat that is new here is made ready beside the writer's thread."""

import asyncio
from dataclasses import replace
import threading

import pytest

from copilot_admin.models import Blob, Logging, Node
from copilot_admin.redaction.rules import rules_for
from copilot_admin.transcripts.matching import attaching
from copilot_admin.transcripts.matching.message_store import StoredContent, serialize_message
from copilot_admin.transcripts.store import JOURNAL, PREPARE_INLINE_BYTES, Opening, older_messages
from protocol.models import Message
from tests.transcripts.store.journaling import Client, ai, call_echo, human, result

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
SIGNED = "https://files.example/x?X-Amz-Signature=1 "
LONG = SIGNED * 300
CHAT = (human(LONG), call_echo(), result("r" * 5000), ai(LONG), human("And now?"))


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Message]]:
    """The messages of which the content was made, and the thread that did it."""
    found: list[tuple[str, Message]] = []

    def watched(message: Message) -> StoredContent:
        found.append((threading.current_thread().name, message))
        return serialize_message(message)

    for module in (older_messages, attaching):
        monkeypatch.setattr(module, "serialize_message", watched)
    return found


def large(client: Client, *messages: Message) -> Opening:
    return replace(client.opening(*messages), size=PREPARE_INLINE_BYTES + 1)


def accept(opening: Opening) -> None:
    asyncio.run(JOURNAL.accept(opening))


def stored() -> list[tuple[str, str | None]]:
    return list(Node.objects.order_by("id").values_list("text", "blob_id"))


def test_the_writer_makes_the_title_and_nothing_else(made):
    accept(large(Client(), *CHAT))
    by_writer = [message for thread, message in made if thread.startswith("journal-writer")]
    assert by_writer == [human(LONG.lstrip()[: attaching.MAX_TITLE_SOURCE_CHARACTERS])]
    assert [message for _, message in made if message not in by_writer] == list(CHAT[:-1])


def test_it_is_stored_as_what_a_small_request_brings():
    accept(Client(principal="one").opening(*CHAT))
    small = stored()
    accept(large(Client(principal="two"), *CHAT))
    assert stored() == small * 2
    assert small[0][0] == "https://files.example/x " * 300
    assert [blob is not None for _, blob in small] == [False, False, True, False, False]
    assert Blob.objects.filter(pk=small[2][1]).exists()


def test_of_a_chat_that_is_known_only_what_is_new_is_made_ready(made):
    client = Client(trace_id="chat")
    accept(large(client, *CHAT))
    made.clear()
    accept(large(client, *CHAT, ai("Nothing new."), human("Why?")))
    assert [message for _, message in made] == [ai("Nothing new.")]


def test_what_another_chat_has_alike_is_stored_for_this_one_too(made):
    accept(large(Client(trace_id="one"), *CHAT))
    made.clear()
    accept(large(Client(trace_id="two"), *CHAT))
    assert len(stored()) == 2 * len(CHAT)
    assert stored()[: len(CHAT)] == stored()[len(CHAT) :]


def test_of_a_small_request_nobody_looks_what_is_stored(monkeypatch, made):
    """Also where it is made ready in a thread, for the expressions of its copilot."""
    monkeypatch.setattr(attaching.PreparedMessages, "count_stored", None)
    opening = Client().opening(human("Hi"), ai("Hello."), human("And now?"))
    accept(replace(opening, redaction=rules_for((), ("Hello",))))
    assert [text for text, _ in stored()] == ["Hi", "[redacted].", "And now?"]


@pytest.mark.parametrize("logging", [Logging.METADATA, Logging.NOTHING])
def test_where_nothing_is_kept_nothing_is_made_ready(made, logging):
    accept(large(Client(logging=logging), *CHAT))
    assert made == []
