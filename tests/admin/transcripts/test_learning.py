"""Questions are saved from the page of a conversation and from the list."""

from django.contrib.auth.models import Permission
from django.test import Client as Browser
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Logging, TestCase
from tests.admin.pages import messages_of
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
    assert messages_of(response)
    both.post(path, follow=True)
    assert TestCase.objects.count() == 1
    assert both.post(address(asked.conversation, "turns/0/learn/")).status_code == 404
    assert both.post(address(asked.conversation, "turns/x/learn/")).status_code == 404


def test_a_turn_without_words_says_why_it_is_not_saved(both: Browser):
    asked = Client(logging=Logging.METADATA).ask("What?").answer("x")
    path = address(asked.conversation, f"turns/{asked.accepted.turn_id}/learn/")
    assert messages_of(both.post(path, follow=True))
    assert not TestCase.objects.exists()


def test_a_reviewer_who_makes_no_copilots_saves_nothing(reviewer: Browser):
    asked = Client().ask("What?").answer("x")
    page = text_of(reviewer.get(LIST))
    assert ("learn-form" in page, 'name="chosen"' in page) == (False, False)
    assert "/learn/" not in text_of(reviewer.get(address(asked.conversation)))


def test_chosen_conversations_are_saved_under_a_label(both: Browser):
    client = Client(trace_id="chat")
    client.ask("One?").answer("A")
    chosen = client.ask("One?", ai("A"), "Two?").answer("B").conversation
    Client().ask("Not me?").answer("C")
    assert f'value="{chosen.pk}" form="learn-form"' in text_of(both.get(LIST))
    page = text_of(both.get(LEARN, {"chosen": chosen.pk}))
    assert "One conversation is chosen." in page
    assert "They have 2 questions." in page
    done = both.post(LEARN, {"chosen": chosen.pk, "label": " thumbs \n down ", "_save": "1"})
    assert "2 questions are saved." in text_of(done)
    rows = TestCase.objects.values_list("question", "label")
    assert list(rows) == [("One?", "thumbs down"), ("Two?", "thumbs down")]
    again = text_of(both.post(LEARN, {"chosen": chosen.pk, "_save": "1"}))
    assert "0 questions are saved. 2 are not." in again


def test_all_that_a_filter_finds_are_saved_without_a_choice(both: Browser):
    mine = Client().ask("One?").answer("A").conversation
    Client().ask("Two?").answer("B")
    filters = f"copilot={mine.copilot_id}"
    assert filters in text_of(both.get(f"{LIST}?{filters}"))
    both.post(LEARN, {"_changelist_filters": filters, "_save": "1", "which": "all"})
    assert [row.question for row in TestCase.objects.all()] == ["One?"]
