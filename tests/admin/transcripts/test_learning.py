"""Questions are saved from the page of a conversation and from the list."""

from django.contrib.auth.models import Permission
from django.test import Client as Browser
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import TestCase
from tests.admin.transcripts.test_pages import address, text_of
from tests.factories import make_user
from tests.transcripts.store.journaling import Client, ai

pytestmark = pytest.mark.django_db
LIST = "/admin/copilot_admin/conversation/"
LEARN = f"{LIST}learn/"


@pytest.fixture
def both() -> Browser:
    """The browser of somebody who reads transcripts and makes copilots."""
    person = make_user(Role.REVIEWERS)
    names = ("view_copilot", "change_copilot")
    person.user_permissions.add(*Permission.objects.filter(codename__in=names))
    browser = Browser()
    browser.force_login(person)
    return browser


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
