"""What is searched of a turn: its question, and its answers in the order of the runs."""

import pytest

from copilot_admin.models import TurnText
from copilot_admin.transcripts.search.text_index import answers_of, index_answer
from tests.transcripts.store.journaling import Client, call_echo, call_event, result

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def test_a_turn_has_the_answers_of_all_its_runs_in_their_order():
    client = Client(trace_id="chat")
    turn = client.ask("Price?").answer("Fetching.", call_event()).accepted.turn_id
    client.ask("Price?", call_echo(), result()).answer("42")
    client.ask("Price?").answer("A" * 16_001)
    other = Client().ask("Another").answer("Other").accepted.turn_id
    assert answers_of([turn]) == {turn: ["Fetching.", "42", "A" * 16_000]}
    assert answers_of([turn, other])[other] == ["Other"]


def test_the_question_is_searched_even_when_its_answer_is_empty():
    accepted = Client().ask("Why?").accepted
    index_answer(accepted.turn_id, accepted.conversation_id, "", is_first=False)
    assert TurnText.objects.get().text == "why?"
