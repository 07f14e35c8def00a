"""A question asked again: as a command, in the playground, and as a test case."""

import json
from typing import Any

from django.contrib.auth.models import Permission
from django.test import Client as Browser
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Conversation, Run, TestCase, Turn
from tests.admin.transcripts.test_pages import address, text_of
from tests.admin.transcripts.transcript_rows import PRICES, call, echo, results
from tests.factories import make_user, sign_in
from tests.transcripts.store.journaling import Client, ai, human

pytestmark = pytest.mark.django_db
ENV: dict[str, Any] = {
    "widgets": {
        "primary": [{"uuid": "w-1", "widget_id": "prices", "name": "Prices", "params": []}],
        "extra": [{"uuid": "w-9", "widget_id": "other"}, "odd"],
        "odd": 1,
    },
    "workspace_options": {"web-search": True},
    "timezone": "Europe/Rome",
    "tools": [{"name": "quote", "input_schema": {}}],
    "skills_catalog": [{"slug": "earnings"}],
}


def asked_with_data() -> tuple[Conversation, Turn]:
    client, event = Client(trace_id="chat"), call(symbol="AAPL")
    client.ask("Hello?").answer("Hi")
    said = (human("Hello?"), ai("Hi"), human("Prices 'of' <Apple>?"))
    client.ask(*said, env=ENV).answer(event)
    back = client.ask(*said, echo(event), results(event, json.dumps(PRICES[:2])))
    return back.answer("Here.").conversation, Turn.objects.latest("id")


def test_a_command_has_the_request_and_no_key(reviewer: Browser):
    conversation, turn = asked_with_data()
    run = Run.objects.filter(turn=turn).earliest("started_at")
    path = address(conversation, f"runs/{run.pk}/curl/")
    assert path in text_of(reviewer.get(address(conversation, f"turns/{turn.pk}/trace/")))
    answer = reviewer.get(path)
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    command, body, end, rest = text_of(answer).rsplit("\n", 3)
    assert command.startswith("curl -N http://testserver/v1/copilots/")
    assert '"X-API-Key: $COPILOT_KEY"' in command
    sent = json.loads(body)
    assert sent["messages"][-1] == {"role": "human", "content": "Prices 'of' <Apple>?"}
    assert sent["timezone"] == "Europe/Rome"
    assert (end, rest) == ("REQUEST", "")


def test_a_question_comes_with_what_was_said_its_data_and_its_options(reviewer: Browser):
    conversation, turn = asked_with_data()
    found = reviewer.get(address(conversation, f"turns/{turn.pk}/question/")).json()
    (prices, other) = found.pop("widgets")
    assert found == {
        "question": "Prices 'of' <Apple>?",
        "earlier": [{"role": "human", "content": "Hello?"}, {"role": "ai", "content": "Hi"}],
        "options": {"web-search": True},
        "tools": [{"name": "quote", "input_schema": {}}],
        "skills": [{"slug": "earnings"}],
        "timezone": "Europe/Rome",
        "model": "",
        "origin": conversation.pk,
    }
    assert (prices["place"], prices["widget"]["widget_id"]) == ("primary", "prices")
    assert json.loads(prices["items"][0]["content"]) == PRICES[:2]
    assert (other["place"], other["items"]) == ("extra", [])


def test_who_makes_copilots_too_finds_the_way_to_the_playground(reviewer: Browser):
    conversation, turn = asked_with_data()
    link = (
        f"/copilot/{conversation.copilot_id}/change/?again={conversation.pk}/{turn.pk}#playground"
    )
    assert link not in text_of(reviewer.get(address(conversation)))
    both = make_user(Role.REVIEWERS)
    names = ("view_copilot", "change_copilot")
    both.user_permissions.add(*Permission.objects.filter(codename__in=names))
    browser = sign_in(both)
    assert link in text_of(browser.get(address(conversation)))
    editor = text_of(browser.get(f"/admin/copilot_admin/copilot/{conversation.copilot_id}/change/"))
    assert 'data-again-url="/admin/copilot_admin/conversation/0/turns/0/question/"' in editor


LIST = "/admin/copilot_admin/conversation/"
LEARN = f"{LIST}learn/"


@pytest.fixture
def both() -> Browser:
    """The browser of somebody who reads transcripts and makes copilots."""
    person = make_user(Role.REVIEWERS)
    names = ("view_copilot", "change_copilot")
    person.user_permissions.add(*Permission.objects.filter(codename__in=names))
    return sign_in(person)


def test_a_turn_is_saved_from_its_page_and_leads_to_what_is_expected(both: Browser):
    asked = Client().ask("What?").answer("<script>alert(1)</script>")
    path = address(asked.conversation, f"turns/{asked.accepted.turn_id}/learn/")
    assert path in text_of(both.get(address(asked.conversation)))
    response = both.post(path, follow=True)
    saved = TestCase.objects.get()
    assert response.redirect_chain[0][0].endswith(f"/tests/{saved.pk}/")
    again = both.post(path, follow=True)
    assert again.redirect_chain == response.redirect_chain
    assert both.post(address(asked.conversation, "turns/0/learn/")).status_code == 404


def test_reviewers_who_build_no_copilots_save_nothing(reviewer: Browser):
    asked = Client().ask("What?").answer("x")
    assert 'value="tests"' not in text_of(reviewer.get(LIST))
    assert "/learn/" not in text_of(reviewer.get(address(asked.conversation)))
    assert reviewer.get(LEARN).status_code == 403


def test_selected_conversations_are_saved_under_a_label(both: Browser):
    client = Client(trace_id="chat")
    client.ask("One?").answer("A")
    chosen = client.ask("One?", ai("A"), "Two?").answer("B").conversation
    Client().ask("Not me?").answer("C")
    filters = {"_changelist_filters": f"ids={chosen.pk}"}
    page = text_of(both.get(LEARN, filters))
    assert 'data-conversations="1" data-turns="2"' in page
    sent = {**filters, "_save": "1"}
    done = both.post(LEARN, {**sent, "label": " thumbs \n down "})
    assert 'data-saved="2"' in text_of(done)
    rows = TestCase.objects.values_list("question", "label")
    assert list(rows) == [("One?", "thumbs down"), ("Two?", "thumbs down")]
    assert 'data-saved="0" data-skipped="2"' in text_of(both.post(LEARN, sent))
    bad = text_of(both.get(LEARN, {**filters, "which": "down"}))
    assert 'data-turns="0"' in bad
    assert both.get(LEARN, {"_changelist_filters": "nonsense=1"}).status_code == 400
