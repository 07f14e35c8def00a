"""What a reviewer reads of a conversation."""

from django.db import connection
from django.test.utils import CaptureQueriesContext
import pytest

from copilot_admin.models import Outcome
from copilot_admin.transcripts.queries.reading import TurnView, read_turns
from copilot_admin.transcripts.queries.tree import Tree
from copilot_admin.transcripts.store.recorder import Recorder
from copilot_admin.transcripts.store.transcript_store import save_checkpoints
from protocol.events import MessageChunk, StatusUpdate
from tests.transcripts.store.journaling import (
    Asked,
    Client,
    ai,
    call_echo,
    call_event,
    human,
    result,
)

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def read(asked: Asked) -> list[TurnView]:
    tree = Tree(asked.conversation)
    ids = [place.id for place in tree.places]
    return list(read_turns(asked.conversation, tree, ids).values())


def test_a_turn_shows_question_call_result_and_answer():
    client = Client()
    client.ask("Price?").answer(call_event())
    asked = client.ask("Price?", call_echo(), result("big " * 1000)).answer(
        StatusUpdate(message="Reading"), "It is ", "42"
    )
    (turn,) = read(asked)
    first, second = turn.runs
    assert (turn.question.text, turn.state, turn.place.level) == ("Price?", "done", 0)
    assert first.call.function == "get_widget_data"
    assert first.call.arguments == call_echo().input_arguments
    assert [one.data["data"][0]["items"][0]["content"] for one in first.call.results] == [
        "big " * 1000
    ]
    assert [one.pk for one in second.received] == [first.call.results[0].pk]
    assert (second.answer, second.call) == ("It is 42", None)
    assert [(event.type, event.payload["message"]) for event in second.events] == [
        ("status", "Reading")
    ]
    row = second.row
    assert (row.input_tokens, row.output_tokens, row.usage_source) == (10, 5, "provider")
    assert second.version == client.version.number


def test_a_running_answer_shows_its_checkpoints():
    client = Client()
    asked = client.ask("Hi")
    recorder = Recorder()
    for text in ("Hel", "lo"):
        recorder.add(MessageChunk(text), at_ms=0)
        save_checkpoints({asked.run_id: recorder.take_unsaved()})
    recorder.add(StatusUpdate(message="Thinking"), at_ms=70)
    save_checkpoints({asked.run_id: recorder.take_unsaved()})
    (turn,) = read(asked)
    (run,) = turn.runs
    assert (run.row.outcome, run.answer, run.row.ms) == (Outcome.RUNNING, "Hello", None)
    assert [(event.type, event.text_offset, event.at_ms) for event in run.events] == [
        ("status", 5, 70)
    ]


def test_queries_do_not_grow_with_the_conversation():
    client, history, counts = Client(trace_id="chat"), [], []
    for number in range(12):
        history.append(human(f"{number} {'long ' * 600}"))
        asked = client.ask(*history).answer(f"Answer {number}", StatusUpdate(message="x" * 5000))
        history.append(ai(f"Answer {number}"))
        if number in (1, 11):
            with CaptureQueriesContext(connection) as queries:
                read(asked)
            counts.append(len(queries))
    assert counts[0] == counts[1] <= 10
