"""Where personal data is redacted, none of it is stored: not in rows, hashes, checkpoints or the spool."""

from dataclasses import replace
import json

from django.apps import apps
import pytest

from copilot_admin import models
from copilot_admin.models import Event, Node, Run, TurnText
from copilot_admin.redaction.kinds import DataKind
from copilot_admin.redaction.rules import Rules
from copilot_admin.storage.blobs import load
from copilot_admin.transcripts.queries.reading import read_turns
from copilot_admin.transcripts.queries.tree import Tree
from copilot_admin.transcripts.store.end_rows import finish
from copilot_admin.transcripts.store.recorder import Piece
from copilot_admin.transcripts.store.transcript_store import (
    end_from_json,
    end_to_json,
    load_pieces,
    reap,
    save_checkpoints,
)
from protocol.events import MessageChunk, StatusUpdate
from tests.transcripts.store.journaling import Client, call_event, end_of, ending

pytestmark = pytest.mark.django_db
RULES = Rules((DataKind.EMAIL, DataKind.CARD))
MAIL, KEPT = "ann@bank.example", "[e-mail address]"


class Redacting(Client):
    """A client of a copilot that takes addresses out of what is stored."""

    rules = RULES

    def start(self, *messages, **query):
        return replace(super().start(*messages, **query), redaction=self.rules)


def ended(asked, *outputs, rules=RULES, **options):
    end = end_of(asked.run_id, *outputs, at=asked.at, rules=rules, **options)
    assert finish(end_from_json(json.loads(json.dumps(end_to_json(end)))))


def everything_stored():
    """All that the tables have, as one text; of packed things what they hold."""
    texts = []
    for model in apps.get_app_config("copilot_admin").get_models():
        texts += map(str, model._default_manager.values())
    texts.append(str(load(models.Blob.objects.values_list("pk", flat=True))))
    return " ".join(texts)


def test_nothing_that_is_stored_has_it_and_the_places_of_events_move():
    client = Redacting()
    asked = client.ask(f"I am {MAIL}", workspace_state={"mail": MAIL, "file": "JVBERi0x" * 100})
    ended(
        asked, MessageChunk(f"Hello {MAIL}, "), StatusUpdate(message=f"Found {MAIL}"), MessageChunk("bye"),
        call_event(), ended=ending(error=f"{MAIL} is wrong", notes=(f"{MAIL} was left out",)),
    )  # fmt: skip
    assert MAIL not in everything_stored() and "JVBERi" not in everything_stored()
    conversation = asked.conversation
    assert conversation.title == f"I am {KEPT}"
    texts = list(Node.objects.order_by("id").values_list("text", flat=True))[:2]
    assert texts == [f"I am {KEPT}", f"Hello {KEPT}, bye"]
    status = Event.objects.get(type="status")
    assert status.text_offset == len(f"Hello {KEPT}, ")
    run = asked.run
    assert (run.error, run.notes) == (f"{KEPT} is wrong", [f"{KEPT} was left out"])
    assert TurnText.objects.get().text == f"i am {KEPT}\nhello {KEPT}, bye"


def test_what_streams_is_encrypted_until_it_is_looked_through():
    client = Redacting()
    copilot = client.version.copilot
    copilot.redaction = ["email", "card"]
    copilot.save()
    asked = client.ask("Who?")
    for order, text in enumerate((f"It is {MAIL[:5]}", f"{MAIL[5:]} of course")):
        save_checkpoints({asked.run_id: Piece(order, text, is_secret=True)})
    for data in models.Checkpoint.objects.values_list("data", flat=True):
        assert bytes(data).startswith(b"sealed:")
    assert [piece.text for piece in load_pieces(asked.run_id)][1] == f"{MAIL[5:]} of course"
    tree = Tree(asked.conversation)
    (turn,) = read_turns(asked.conversation, tree, [asked.accepted.turn_id]).values()
    assert MAIL not in str(turn) and f"It is {KEPT} of course" in str(turn)
    Run.objects.update(boot_id="another")
    assert reap(every_other_boot=True) == 1
    assert Node.objects.get(role="ai").text == f"It is {KEPT} of course"
