"""Turns become saved questions, with what they saw and what was answered; each once."""

from decimal import Decimal
import json
from typing import Any

from django.utils import timezone
import pytest

from copilot_admin.copilots.questions import entry as limits
from copilot_admin.evaluation import learning
from copilot_admin.evaluation.learning import Fate, Learned, learn, turns_of
from copilot_admin.evaluation.replay_queue import before_of
from copilot_admin.evaluation.simulated_workspace import request_of, result_of
from copilot_admin.import_export.questions import read_question, row_of
from copilot_admin.models import (
    Baseline,
    Copilot,
    Feedback,
    FeedbackSource,
    Logging,
    Outcome,
    RecordedAnswer,
    Run,
    SavedQuestion,
    Turn,
)
from protocol.events import FunctionCall
from protocol.models import DataItem, ResultMessage, SourceData
from tests.admin.transcripts.test_again import ENV, asked_with_data
from tests.admin.transcripts.transcript_rows import PRICES, echo
from tests.factories import make_saved
from tests.transcripts.store.journaling import Asked, Client, ai, call_event, ending, human

pytestmark = pytest.mark.django_db


def ids(asked: Asked) -> tuple[int, int]:
    turn = asked.accepted.turn_id
    assert turn is not None
    return asked.conversation.pk, turn


def learned(*turns: tuple[int, int], label: str = "") -> list[Learned]:
    return list(learn(turns, label=label))


def test_a_turn_is_saved_with_what_was_said_its_data_and_its_options():
    conversation, turn = asked_with_data()
    (one,) = learned((conversation.pk, turn.pk), label="May")
    assert one.fate is Fate.SAVED
    saved = SavedQuestion.objects.get(pk=one.question)
    entry = read_question(row_of(saved))
    assert (saved.copilot, entry.question) == (conversation.copilot, "Prices 'of' <Apple>?")
    assert [(said.role, said.content) for said in entry.earlier] == [
        ("human", "Hello?"),
        ("ai", "Hi"),
    ]
    assert entry.options == {"web-search": True}
    assert (entry.timezone, entry.label, saved.label) == ("Europe/Rome", "May", "May")
    assert [tool["name"] for tool in entry.tools] == ["quote"]
    prices, other = entry.widgets
    assert (prices.id, prices.uuid, prices.place, other.id) == ("prices", "w-1", "primary", "other")
    (data,) = result_of(
        entry, "get_widget_data", {"data_sources": [{"widget_uuid": "w-1", "id": "prices"}]}
    )
    assert json.loads(data["items"][0]["content"]) == PRICES[:2]  # type: ignore[call-overload,index]
    assert request_of(entry, [])["workspace_options"] == {"web-search": True}


def test_the_newest_answer_of_all_its_requests_is_the_baseline():
    conversation, turn = asked_with_data()
    Run.objects.filter(turn=turn).update(cost=Decimal("0.25"), cost_confidence="estimated")
    learned((conversation.pk, turn.pk))
    kept = RecordedAnswer.objects.get()
    assert (kept.conversation, kept.turn, kept.text) == (conversation.pk, turn.pk, "Here.")
    assert (kept.provider, kept.model, kept.failure) == ("Provider", "small-1", "")
    assert (kept.ms, kept.ttft_ms) == (1800, 300)
    assert (kept.input_tokens, kept.output_tokens) == (20, 10)
    assert (kept.cost, kept.cost_is_estimated) == (Decimal("0.5"), True)


def test_an_answer_that_failed_says_why_and_a_cost_that_nobody_knows_is_none():
    asked = Client().ask("Hi?").answer("He", ended=ending(Outcome.FAILED, error="Away."))
    learned(ids(asked))
    kept = RecordedAnswer.objects.get()
    assert (kept.text, kept.failure, kept.cost) == ("He", "Away.", None)


def test_a_question_whose_data_never_came_has_no_answer_to_compare_with():
    asked = Client().ask("Prices?").answer(call_event())
    learned(ids(asked))
    kept = RecordedAnswer.objects.get()
    assert (kept.text, kept.failure) == ("", "The client never sent the data that was asked for.")
    assert before_of(SavedQuestion.objects.get()).baseline == Baseline.NONE


def test_what_other_functions_of_workspace_brought_is_brought_again():
    client = Client(trace_id="chat")
    called = FunctionCall(function="open_page", input_arguments={"page": "x"}, extra_state={})
    client.ask("Open it").answer(called)
    brought = SourceData((DataItem(content="done"),))
    back = ResultMessage("open_page", echo(called).input_arguments, (brought,), {})
    asked = client.ask(human("Open it"), echo(called), back).answer("Open.")
    learned(ids(asked))
    entry = read_question(row_of(SavedQuestion.objects.get()))
    assert [one["items"] for one in entry.results["open_page"]]


def test_the_same_is_saved_once_whether_it_is_the_turn_or_the_question():
    client = Client()
    first, second = client.ask("Same?").answer("A"), client.ask("Other?").answer("B")
    same = make_saved(client.version.copilot, "Other?", body={"timezone": "UTC"})
    (saved,) = learned(ids(first))
    again, known = learned(ids(first), ids(second))
    assert (again.fate, again.question) == (Fate.SAVED_BEFORE, saved.question)
    assert (known.fate, known.question) == (Fate.SAVED_BEFORE, same.pk)
    assert again.sentence == "The same question is saved already."
    assert SavedQuestion.objects.count() == 2


def test_what_cannot_be_saved_says_why(monkeypatch: pytest.MonkeyPatch):
    secret = Client(logging=Logging.METADATA).ask("Hidden?").answer("x")
    running = Client().ask("Still?")
    gone = (10**9, 1)
    whole = Client().ask("Hi?").answer("x")
    other_turn = (whole.conversation.pk, ids(running)[1])
    found = learned(ids(secret), ids(running), gone, other_turn)
    assert [one.fate for one in found] == [Fate.NOT_KEPT, Fate.RUNNING, Fate.GONE, Fate.GONE]
    assert all(one.sentence for one in found)
    Copilot.objects.filter(pk=whole.conversation.copilot_id).update(
        enabled=False, archived_at=timezone.now()
    )
    (away,) = learned(ids(whole))
    assert away.fate is Fate.COPILOT_AWAY
    Copilot.objects.update(archived_at=None)
    monkeypatch.setattr("copilot_admin.import_export.questions.MOST_QUESTIONS", 0)
    (full,) = learned(ids(whole))
    assert (full.fate, full.sentence) == (
        Fate.REFUSED,
        "A copilot has 0 saved questions at most. Delete one first.",
    )
    monkeypatch.setattr(limits, "MOST_BYTES", 10)
    (big,) = learned(ids(whole))
    assert big.fate is Fate.REFUSED
    assert "MB" in big.sentence
    assert not SavedQuestion.objects.exists()


def test_the_same_widget_twice_in_a_dashboard_keeps_the_data_of_each():
    twice: list[dict[str, Any]] = [
        {"uuid": "w-1", "widget_id": "prices", "name": "A"},
        {"uuid": "w-2", "widget_id": "prices", "name": "B"},
    ]
    asked = Client().ask("Hi?", env={**ENV, "widgets": {"primary": twice}}).answer("x")
    (one,) = learned(ids(asked))
    assert one.fate is Fate.SAVED
    entry = read_question(row_of(SavedQuestion.objects.get()))
    assert [widget.uuid for widget in entry.widgets] == ["w-1", "w-2"]


def test_all_questions_of_a_conversation_are_found_or_those_with_a_thumb_down(monkeypatch):
    client = Client(trace_id="chat")
    first = client.ask("One?").answer("A")
    client.ask("One?", ai("A"), "Two?").answer("B")
    conversation, turn = ids(first)
    assert len(turns_of([conversation], only_bad=False)) == 2
    Feedback.objects.create(
        turn=Turn.objects.get(pk=turn), value=-1, source=FeedbackSource.END_USER
    )
    assert turns_of([conversation], only_bad=True) == [(conversation, turn)]
    monkeypatch.setattr(learning, "MOST_AT_ONCE", 0)
    assert len(turns_of([conversation], only_bad=False)) == 1  # so that one sees there is more
