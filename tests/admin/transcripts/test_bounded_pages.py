"""A page of a conversation has an end, whatever was stored of it before there were bounds of it."""

from dataclasses import replace

from django.test import Client as Browser
import pytest

from copilot_admin.admin.transcripts import page, views
from copilot_admin.admin.transcripts.page import EXTENT
from copilot_admin.agent.values.engine_input import DataSeen
from copilot_admin.models import Conversation
from protocol.events import Citation, CitationCollection, StatusUpdate
from protocol.messages import DataItem, ResultMessage, SourceData
from tests.admin.transcripts.test_pages import address, text_of
from tests.transcripts.store.journaling import Client, call_echo, call_event

pytestmark = pytest.mark.django_db
MANY = 2_000


def answered_with(*outputs) -> Conversation:
    asked = Client(trace_id="many").ask("How much?").answer(*outputs)
    return asked.conversation


def came_back(*results) -> Conversation:
    """A call whose result, or results, came with the next request."""
    client = Client(trace_id="many")
    client.ask("How much?").answer(call_event())
    return client.ask("How much?", call_echo(), *results).answer("So much.").conversation


def result_of(*data) -> ResultMessage:
    return ResultMessage("get_widget_data", call_echo().input_arguments, data, {})


def items(number: int) -> SourceData:
    return SourceData(tuple(DataItem(content=str(one)) for one in range(number)))


def cited(number: int) -> CitationCollection:
    info = {"type": "widget", "name": "Prices"}
    return CitationCollection(
        tuple(Citation(id=str(one), source_info=info) for one in range(number))
    )


KINDS = {
    "data messages": lambda: answered_with(
        *(DataSeen(f"## Data: ¶widget_data\n_instance: w-{one}\n1") for one in range(MANY))
    ),
    "steps": lambda: answered_with(*(StatusUpdate(message=f"Step {one}") for one in range(MANY))),
    "sources that are cited": lambda: answered_with("So.", cited(MANY)),
    "items of a result": lambda: came_back(result_of(items(MANY))),
    "sources of a result": lambda: came_back(result_of(*(items(1) for _ in range(MANY)))),
    "results": lambda: came_back(*(result_of(items(1)) for _ in range(MANY))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_an_end(reviewer: Browser, kind: str):
    shown = text_of(reviewer.get(address(KINDS[kind]())))
    assert shown.count("<") < 8_000


def test_of_a_question_that_is_answered_again_and_again_the_newest_are_shown(
    reviewer: Browser, monkeypatch: pytest.MonkeyPatch
):
    few = replace(EXTENT, runs=2)
    monkeypatch.setattr(page, "EXTENT", few)
    monkeypatch.setattr(views, "EXTENT", few)
    client = Client(trace_id="again")
    for number in range(4):
        conversation = client.ask("How much?").answer(f"So much: {number}!").conversation
    shown = text_of(reviewer.get(address(conversation)))
    assert [f"So much: {number}!" in shown for number in range(4)] == [False, False, True, True]
    assert "no more than its newest 2 requests are shown" in shown


def test_events_beyond_the_bound_are_counted_and_those_at_the_end_are_shown(reviewer: Browser):
    steps = (StatusUpdate(message=f"Step {one}.") for one in range(320))
    shown = text_of(reviewer.get(address(answered_with(*steps, "So.", cited(1)))))
    assert "Step 299." in shown and "Step 300." not in shown
    assert "20 more events of this answer are not shown here" in shown
    assert "One source" in shown


def test_what_came_back_beyond_the_bound_is_told(reviewer: Browser):
    shown = text_of(reviewer.get(address(came_back(*(result_of(items(1)) for _ in range(203))))))
    assert "102 more function results came, which are not shown here" in shown
    shown = text_of(reviewer.get(address(came_back(result_of(items(203))))))
    assert "More came back than is shown here" in shown
