"""Turns become test cases with their data and their answer; each once."""

import json

from django.utils import timezone
import pytest

from copilot_admin.copilots import test_cases as limits
from copilot_admin.copilots.test_cases import as_row
from copilot_admin.evaluation import from_turns
from copilot_admin.evaluation.case_query import request_of, result_of
from copilot_admin.evaluation.from_turns import SaveResult, SaveStatus, save_turns, select_turns
from copilot_admin.import_export.questions import parse_case
from copilot_admin.models import Copilot, Feedback, FeedbackSource, Logging, TestCase, Turn
from protocol.events import FunctionCall
from protocol.models import DataItem, ResultMessage, SourceData
from tests.admin.transcripts.test_again import asked_with_data
from tests.admin.transcripts.transcript_rows import PRICES, echo
from tests.transcripts.store.journaling import Asked, Client, ai, human

pytestmark = pytest.mark.django_db


def ids(asked: Asked) -> tuple[int, int]:
    turn = asked.accepted.turn_id
    assert turn is not None
    return asked.conversation.pk, turn


def learned(*turns: tuple[int, int], label: str = "") -> list[SaveResult]:
    return list(save_turns(turns, label=label))


def test_a_turn_is_saved_with_what_was_said_its_data_and_its_options():
    conversation, turn = asked_with_data()
    (one,) = learned((conversation.pk, turn.pk), label="May")
    assert one.status is SaveStatus.SAVED
    saved = TestCase.objects.get(pk=one.case)
    entry = parse_case(as_row(saved))
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


def test_what_other_functions_of_workspace_brought_is_brought_again():
    client = Client(trace_id="chat")
    called = FunctionCall(function="open_page", input_arguments={"page": "x"}, extra_state={})
    client.ask("Open it").answer(called)
    brought = SourceData((DataItem(content="done"),))
    back = ResultMessage("open_page", echo(called).input_arguments, (brought,), {})
    asked = client.ask(human("Open it"), echo(called), back).answer("Open.")
    learned(ids(asked))
    entry = parse_case(as_row(TestCase.objects.get()))
    assert [one["items"] for one in entry.results["open_page"]]


def test_what_cannot_be_saved_says_why(monkeypatch: pytest.MonkeyPatch):
    secret = Client(logging=Logging.METADATA).ask("Hidden?").answer("x")
    running = Client().ask("Still?")
    gone = (10**9, 1)
    whole = Client().ask("Hi?").answer("x")
    other_turn = (whole.conversation.pk, ids(running)[1])
    found = learned(ids(secret), ids(running), gone, other_turn)
    assert [one.status for one in found] == [
        SaveStatus.NOT_KEPT,
        SaveStatus.RUNNING,
        SaveStatus.GONE,
        SaveStatus.GONE,
    ]
    assert all(one.sentence for one in found)
    Copilot.objects.filter(pk=whole.conversation.copilot_id).update(
        enabled=False, archived_at=timezone.now()
    )
    (away,) = learned(ids(whole))
    assert away.status is SaveStatus.COPILOT_AWAY
    Copilot.objects.update(archived_at=None)
    monkeypatch.setattr("copilot_admin.import_export.questions.MAX_TEST_CASES", 0)
    (full,) = learned(ids(whole))
    assert (full.status, bool(full.error)) == (SaveStatus.REFUSED, True)
    monkeypatch.setattr(limits, "MAX_BYTES", 10)
    (big,) = learned(ids(whole))
    assert big.status is SaveStatus.REFUSED
    assert "MB" in big.sentence
    assert not TestCase.objects.exists()


def test_all_questions_of_a_conversation_are_found_or_those_with_a_thumb_down(monkeypatch):
    client = Client(trace_id="chat")
    first = client.ask("One?").answer("A")
    client.ask("One?", ai("A"), "Two?").answer("B")
    conversation, turn = ids(first)
    assert len(select_turns([conversation], only_bad=False)) == 2
    Feedback.objects.create(
        turn=Turn.objects.get(pk=turn), value=-1, source=FeedbackSource.END_USER
    )
    assert select_turns([conversation], only_bad=True) == [(conversation, turn)]
    monkeypatch.setattr(from_turns, "MAX_TURNS", 0)
    assert len(select_turns([conversation], only_bad=False)) == 1  # so that one sees there is more
