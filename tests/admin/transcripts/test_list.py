"""The list of transcripts."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
import re
from typing import Any

from django.conf import settings
from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
import pytest

from copilot_admin.admin.transcripts.list import COUNTED, EPOCH, key_of, row_key
from copilot_admin.admin.transcripts.words import OUTCOMES, STATES
from copilot_admin.models import Conversation, Copilot, Outcome
from tests.factories import make_copilot, make_user

pytestmark = [pytest.mark.database, pytest.mark.django_db]
LIST = "/admin/copilot_admin/conversation/"
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def make_conversations(number: int, copilot: Copilot | None = None, **changes: Any) -> None:
    asked = copilot or make_copilot()
    Conversation.objects.bulk_create(
        Conversation(
            **{
                "copilot": asked,
                "principal": "anonymous",
                "title": f"Question {index}",
                "first_at": NOON,
                "last_at": NOON + timedelta(seconds=index // 2),
                "last_outcome": Outcome.COMPLETED,
                "tokens": 12345,
                "ttft_ms": 840,
                "n_turns": 3,
                **changes,
            }
        )
        for index in range(number)
    )


def titles(response: Any) -> list[str]:
    return [row.title for row in response.context["cl"].result_list]


def test_a_row_says_who_what_when_and_how_it_ended(reviewer: Browser):
    make_conversations(1, make_copilot(name="News"), has_error=True, has_branch=True)
    page = reviewer.get(LIST).content.decode()
    for text in (
        "Question 0",
        "News",
        "<span>20 Nov 2026</span> <span>12:00</span>",
        ">3<",
        "Completed",
        "12,345",
        "840 ms",
    ):
        assert text in page, text
    assert "an answer failed" in page
    assert "has branches" in page
    assert '<use href="#ca-outcome-completed">' in page


def test_the_list_needs_the_same_queries_for_one_row_and_for_fifty(reviewer: Browser):
    reviewer.get(LIST)
    make_conversations(1)
    with CaptureQueriesContext(connection) as one:
        reviewer.get(LIST)
    for _ in range(5):
        make_conversations(12)
    with CaptureQueriesContext(connection) as many:
        response = reviewer.get(LIST)
    assert len(titles(response)) == 50
    assert len(many) == len(one) <= 10
    assert not any("DISTINCT" in query["sql"] for query in many)


def test_pages_follow_each_other_without_a_gap_both_ways(reviewer: Browser):
    seen: list[str] = []
    make_conversations(120)
    expected = [f"Question {index}" for index in reversed(range(120))]
    there, url = [], LIST
    while url:
        response = reviewer.get(url)
        there.append(titles(response))
        older = response.context["cl"].older_query
        seen, url = [*seen, *there[-1]], LIST + older if older else ""
    assert seen == expected
    assert [len(page) for page in there] == [50, 50, 20]
    newer = response.context["cl"].newer_query
    assert titles(reviewer.get(LIST + newer)) == there[1]
    newest = reviewer.get(LIST + reviewer.get(LIST + newer).context["cl"].newer_query)
    assert titles(newest) == there[0]
    assert newest.context["cl"].newer_query is None
    assert newest.context["cl"].older_query


def test_filters_stay_while_paging_and_paging_ends_with_a_new_filter(reviewer: Browser):
    copilot = make_copilot()
    make_conversations(60, copilot)
    make_conversations(60)
    response = reviewer.get(LIST, {"copilot": copilot.pk})
    older = response.context["cl"].older_query
    assert f"copilot={copilot.pk}" in older
    second = reviewer.get(LIST + older)
    assert len(titles(second)) == 10
    links = re.findall(r'href="(\?[^"]*last_outcome[^"]*)"', second.content.decode())
    assert links
    assert not any("older" in link for link in links)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": "apple"}, ["An Apple"]),
        ({"q": "trace-1"}, ["An Apple"]),
        ({"q": "trace"}, []),
        ({"last_outcome__exact": "failed"}, ["A Pear"]),
        ({"has_error__exact": "1"}, ["A Pear"]),
        ({"last_at__gte": "2026-11-20 12:00:00+00:00"}, ["A Pear"]),
        ({"copilot": "nonsense"}, []),
        ({"older": "nonsense"}, ["A Pear", "An Apple"]),
        ({"older": f"{10**30}-1"}, ["A Pear", "An Apple"]),
    ],
)
def test_rows_are_found_by_question_trace_id_and_filters(reviewer: Browser, query, found):
    make_conversations(1, title="An Apple", trace_id="trace-1", last_at=NOON - timedelta(days=2))
    make_conversations(1, title="A Pear", last_outcome=Outcome.FAILED, has_error=True)
    assert titles(reviewer.get(LIST, query)) == found


def test_counting_stops_at_a_bound(reviewer: Browser):
    make_conversations(COUNTED + 1)
    assert "More than 1000 conversations" in reviewer.get(LIST).content.decode()


def test_a_small_list_is_counted(reviewer: Browser):
    make_conversations(2)
    page = reviewer.get(LIST).content.decode()
    assert "2 conversations" in page
    assert 'rel="next"' not in page


def test_an_empty_list_says_what_to_do_next(reviewer: Browser):
    assert "Nobody has asked anything yet." in reviewer.get(LIST).content.decode()
    make_conversations(1)
    page = reviewer.get(LIST, {"q": "nothing like it"}).content.decode()
    assert "No conversation matches." in page


def test_nothing_in_the_list_can_be_changed(reviewer: Browser):
    make_conversations(1)
    page = reviewer.get(LIST).content.decode()
    for text in ("addlink", "action-select", "deletelink", "<style"):
        assert text not in page, text


def test_being_allowed_to_judge_does_not_bring_reading():
    person = make_user("Judges")
    group = person.groups.get()
    group.permissions.set([one for one in _permissions() if one.codename == "change_conversation"])
    browser = Browser()
    browser.force_login(person)
    assert browser.get(LIST).status_code == 403


def _permissions() -> Any:
    from django.contrib.auth.models import Permission

    return Permission.objects.filter(content_type__app_label="copilot_admin")


def test_a_text_of_another_direction_stands_in_its_own(reviewer: Browser):
    make_conversations(1, title="<b>مرحبا")
    page = reviewer.get(LIST).content.decode()
    assert '<bdi class="ca-first-question">&lt;b&gt;مرحبا</bdi>' in page


def test_a_place_in_the_list_survives_its_address():
    at = datetime(2026, 11, 20, 12, 0, 0, 123457, tzinfo=UTC)
    assert row_key(key_of(Conversation(pk=7, last_at=at))) == (at, 7)
    assert row_key("0-1") == (EPOCH, 1)


@pytest.mark.parametrize(
    "text", ["", "1", "-", "1-x", "-1-2", "²-1", f"{10**35}-1", "1" * 50 + "-1"]
)
def test_what_is_no_place_is_ignored(text: str):
    assert row_key(text) is None


def test_every_shape_is_drawn():
    icons = Path(settings.BASE_DIR, "templates/admin/copilot_admin/conversation/icons.html")
    drawn = set(re.findall(r'id="ca-outcome-(\w+)"', icons.read_text()))
    assert {words.icon for words in (*OUTCOMES.values(), *STATES.values())} <= drawn


def test_the_rail_leads_here(reviewer: Browser):
    assert reverse("admin:copilot_admin_conversation_changelist") == LIST
    assert LIST in reviewer.get("/admin/").content.decode()
