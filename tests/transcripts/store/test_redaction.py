"""Where personal data is redacted, none of it is stored: not in rows, hashes, checkpoints or the spool."""

import asyncio
from dataclasses import replace
import json

from django.apps import apps
from django.db import OperationalError
import pytest

from copilot_admin import models
from copilot_admin.config.encryption import SecretLocation, decrypt
from copilot_admin.errors import Unavailable
from copilot_admin.models import Conversation, Event, Logging, Node, Run, TurnText
from copilot_admin.redaction.expressions import SearchTimedOut
from copilot_admin.redaction.kinds import DataKind
from copilot_admin.redaction.redactor import NOT_STORED
from copilot_admin.redaction.rules import Rules
from copilot_admin.storage.blobs import load
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.writer import WRITER
from copilot_admin.transcripts.queries import read_tree, read_turns
from copilot_admin.transcripts.store import checkpoints, reap
from copilot_admin.transcripts.store.finishing import finish
from copilot_admin.transcripts.store.journal import Journal
from copilot_admin.transcripts.store.record import Piece
from copilot_admin.transcripts.store.sealing import from_json, seal, to_json
from protocol.events import MessageChunk, StatusUpdate
from tests.transcripts.store.journaling import Client, ai, call_event, ending, record_of

pytestmark = pytest.mark.django_db
RULES = Rules((DataKind.EMAIL, DataKind.CARD))
MAIL, KEPT = "ann@bank.example", "[e-mail address]"


class Redacting(Client):
    """A client of a copilot that takes addresses out of what is stored."""

    rules = RULES

    def opening(self, *messages, **query):
        return replace(super().opening(*messages, **query), redaction=self.rules)


def ended(asked, *outputs, rules=RULES, **options):
    record = record_of(*outputs, **options)
    sealed = seal(record, run_id=asked.run_id, at=asked.at, rules=rules)
    assert finish(from_json(json.loads(json.dumps(to_json(sealed)))))


def everything_stored():
    """All that the tables have, as one text; of packed things what they hold."""
    texts = []
    for model in apps.get_app_config("copilot_admin").get_models():
        texts += map(str, model._default_manager.values())
    texts.append(str(load(models.Blob.objects.values_list("pk", flat=True))))
    return " ".join(texts)


def said(text):
    return MessageChunk(text)


def test_nothing_that_is_stored_has_it_and_the_places_of_events_move():
    client = Redacting()
    asked = client.ask(f"I am {MAIL}", workspace_state={"mail": MAIL, "file": "JVBERi0x" * 100})
    ended(
        asked, said(f"Hello {MAIL}, "), StatusUpdate(message=f"Found {MAIL}"), said("bye"),
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


def test_a_conversation_is_gone_on_with_by_secret_hashes():
    client = Redacting()
    first = client.ask(f"I am {MAIL}")
    ended(first, said(f"Hello {MAIL}"))
    second = client.ask(f"I am {MAIL}", ai(f"Hello {MAIL}"), "And?")
    assert second.conversation == first.conversation
    assert not Node.objects.filter(echo_differs=True).exists()
    in_clear = Client(version=client.version).ask(f"I am {MAIL}", ai(f"Hello {MAIL}"), "And?")
    assert in_clear.conversation != first.conversation


def test_what_streams_is_sealed_until_it_is_looked_through():
    client = Redacting()
    copilot = client.version.copilot
    copilot.redaction = ["email", "card"]
    copilot.save()
    asked = client.ask("Who?")
    for order, text in enumerate((f"It is {MAIL[:5]}", f"{MAIL[5:]} of course")):
        checkpoints.store([(asked.run_id, Piece(order, text, (), is_secret=True))])
    for data in models.Checkpoint.objects.values_list("data", flat=True):
        assert bytes(data).startswith(b"sealed:")
    assert [piece.text for piece in checkpoints.pieces_of(asked.run_id)][
        1
    ] == f"{MAIL[5:]} of course"
    tree = read_tree(asked.conversation)
    (turn,) = read_turns(asked.conversation, tree, [asked.accepted.turn_id]).values()
    assert MAIL not in str(turn) and f"It is {KEPT} of course" in str(turn)
    Run.objects.update(boot_id="another")
    assert reap(every_other_boot=True) == 1
    assert Node.objects.get(role="ai").text == f"It is {KEPT} of course"


def test_a_piece_is_sealed_for_the_place_in_which_releases_before_have_theirs():
    asked = Redacting().ask("Who?")
    checkpoints.store([(asked.run_id, Piece(3, MAIL, (), is_secret=True))])
    data = bytes(models.Checkpoint.objects.get().data)
    place = SecretLocation(table="checkpoint", row=str(asked.run_id), field="3")
    assert (
        json.loads(decrypt(data.removeprefix(b"sealed:").decode(), location=place))["text"] == MAIL
    )


def test_what_is_not_looked_through_is_not_sealed():
    asked = Client().ask("Who?")
    checkpoints.store([(asked.run_id, Piece(0, MAIL, ()))])
    assert not bytes(models.Checkpoint.objects.get().data).startswith(b"sealed:")


def test_a_sealed_piece_whose_key_is_gone_costs_its_text_and_not_the_run(settings, caplog):
    asked = Redacting().ask("Who?")
    checkpoints.store([(asked.run_id, Piece(0, MAIL, (), is_secret=True))])
    settings.ENCRYPTION_KEYS = ()
    tree = read_tree(asked.conversation)
    assert MAIL not in str(read_turns(asked.conversation, tree, [asked.accepted.turn_id]))
    Run.objects.update(boot_id="another")
    assert reap(every_other_boot=True) == 1
    assert asked.run.outcome == "interrupted"
    assert "ends without its text" in caplog.text


@pytest.mark.parametrize("data", [b"x\x9cgarbled", b"", b"sealed:\xff", b"sealed:1:x"])
def test_a_piece_that_is_damaged_costs_its_text_and_not_the_run(caplog, data):
    """No server started any more, and none ended the runs of another that was killed."""
    asked, other = Client().ask("Who?"), Client().ask("Where?")
    checkpoints.store([(asked.run_id, Piece(0, MAIL, ()))])
    models.Checkpoint.objects.update(data=data)
    Run.objects.update(boot_id="another")
    assert reap(every_other_boot=True) == 2
    assert (asked.run.outcome, other.run.outcome) == ("interrupted", "interrupted")
    assert "ends without its text" in caplog.text


def test_expressions_that_fail_cost_the_text_and_not_the_run(monkeypatch):
    def fails(*_):
        raise SearchTimedOut

    monkeypatch.setattr("copilot_admin.redaction.redactor.find_matches", fails)
    rules = Rules((), ("x",))
    client = Redacting()
    client.rules = rules
    asked = client.ask(f"I am {MAIL}")
    ended(asked, said(f"Hello {MAIL}"), StatusUpdate(message=MAIL), call_event(), rules=rules)
    assert MAIL not in everything_stored()
    assert asked.run.outcome == "completed"
    assert asked.conversation.title == NOT_STORED
    assert Event.objects.get(type="status").payload == {"not stored": NOT_STORED}


def test_of_a_run_that_could_not_begin_nothing_is_remembered(monkeypatch):
    async def fails(job: object) -> None:
        raise OperationalError

    monkeypatch.setattr(WRITER, "run", fails)
    journal = Journal(WRITER, SPOOL)
    for client in (Redacting(), Redacting(logging=Logging.METADATA)):
        with pytest.raises(Unavailable):
            asyncio.run(journal.accept(client.opening("Who?")))
    assert (journal._redacted, journal._private) == ({}, set())


@pytest.mark.django_db(transaction=True)
def test_the_journal_remembers_what_is_redacted_until_a_run_ends():
    opening = Redacting().opening(f"I am {MAIL}")

    async def run():
        journal = Journal(WRITER, SPOOL)
        await journal.accept(opening)
        journal.checkpoint(opening.run_id, Piece(0, MAIL, ()))
        await WRITER.run(lambda: None)
        sealed = await WRITER.run(
            lambda: [
                bytes(data) for data in models.Checkpoint.objects.values_list("data", flat=True)
            ]
        )
        assert sealed[0].startswith(b"sealed:")
        assert await journal.finish(opening.run_id, record_of(said(MAIL)))
        assert not journal._redacted

    asyncio.run(run())
    assert MAIL not in everything_stored()
    assert Conversation.objects.get().title == f"I am {KEPT}"
