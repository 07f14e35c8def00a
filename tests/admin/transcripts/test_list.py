"""The list of transcripts."""

from datetime import UTC, datetime, timedelta
from html import unescape
import re
from typing import Any

from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
import pytest

from copilot_admin.admin.site.site import site
from copilot_admin.admin.transcripts import list as transcript_list
from copilot_admin.models import (
    Conversation,
    Copilot,
    Feedback,
    FeedbackSource,
    Outcome,
)
from tests.factories import make_copilot, make_user
from tests.transcripts.store.journaling import Client as Asking
from tests.transcripts.store.journaling import ai, ending

pytestmark = pytest.mark.django_db
LIST = "/admin/copilot_admin/conversation/"
EXPORTS = "/admin/copilot_admin/transcriptexport/"
QUEUES = "/admin/copilot_admin/reviewqueue/"
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


@pytest.fixture
def _five_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not fifty, which take the time of fifty."""
    monkeypatch.setattr(site.get_model_admin(Conversation), "list_per_page", 5)


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


def test_the_list_needs_the_same_queries_however_long_it_is(reviewer: Browser):
    reviewer.get(LIST)
    make_conversations(51)
    with CaptureQueriesContext(connection) as one:
        reviewer.get(LIST)
    for _ in range(5):
        make_conversations(12)
    with CaptureQueriesContext(connection) as many:
        response = reviewer.get(LIST)
    assert len(titles(response)) == 50
    assert len(many) == len(one) <= 20
    assert not any("DISTINCT" in query["sql"] for query in many)


@pytest.mark.database
@pytest.mark.usefixtures("_five_a_page")
def test_pages_follow_each_other_without_a_gap_both_ways(reviewer: Browser):
    seen: list[str] = []
    make_conversations(12)
    expected = [f"Question {index}" for index in reversed(range(12))]
    there, url = [], LIST
    while url:
        response = reviewer.get(url)
        there.append(titles(response))
        older = response.context["cl"].older_query
        seen, url = [*seen, *there[-1]], LIST + older if older else ""
    assert seen == expected
    assert [len(page) for page in there] == [5, 5, 2]
    newer = response.context["cl"].newer_query
    assert titles(reviewer.get(LIST + newer)) == there[1]
    newest = reviewer.get(LIST + reviewer.get(LIST + newer).context["cl"].newer_query)
    assert titles(newest) == there[0]
    assert newest.context["cl"].newer_query is None
    assert newest.context["cl"].older_query


@pytest.mark.database
def test_filters_stay_while_paging_and_paging_ends_with_a_new_filter(reviewer: Browser):
    copilot = make_copilot()
    make_conversations(60, copilot)
    make_conversations(60)
    response = reviewer.get(LIST, {"copilot": copilot.slug})
    older = response.context["cl"].older_query
    assert f"copilot={copilot.slug}" in older
    second = reviewer.get(LIST + older)
    assert len(titles(second)) == 10
    links = re.findall(r'<a href="(\?[^"]*)" aria-label="Remove', second.content.decode())
    assert len(links) == 1
    assert "older" not in links[0]
    assert 'name="older"' not in second.content.decode()


@pytest.mark.database
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": "trace-1"}, ["An Apple"]),
        ({"outcome": "failed"}, ["A Pear"]),
        ({"since": "2026-11-20"}, ["A Pear"]),
        ({"e": "1", "p": "2", "o": "3"}, ["A Pear", "An Apple"]),
        ({"copilot": "nonsense"}, []),
        ({"older": "nonsense"}, ["A Pear", "An Apple"]),
        ({"older": f"{10**30}-1"}, ["A Pear", "An Apple"]),
    ],
)
def test_rows_are_found_by_question_trace_id_and_filters(reviewer: Browser, query, found):
    make_conversations(1, title="An Apple", trace_id="trace-1", last_at=NOON - timedelta(days=2))
    make_conversations(1, title="A Pear", last_outcome=Outcome.FAILED, has_error=True)
    assert titles(reviewer.get(LIST, query)) == found


@pytest.mark.database
def test_filters_that_take_too_long_ask_for_narrower_ones(reviewer: Browser, monkeypatch):
    make_conversations(1)
    slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n"
    monkeypatch.setattr(transcript_list, "LIST_SECONDS", 0.01)
    monkeypatch.setattr(
        transcript_list.TranscriptList, "_find", lambda self, rows, named: query_all(slow)
    )
    page = reviewer.get(LIST, {"tokens-from": "99999"}).content.decode()
    assert "Narrow your filters" in page
    assert "No conversation matches" not in page


def query_all(sql: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


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


def test_the_rail_leads_here(reviewer: Browser):
    assert reverse("admin:copilot_admin_conversation_changelist") == LIST
    assert LIST in reviewer.get("/admin/").content.decode()


@pytest.mark.database
def test_a_search_shows_what_was_found_and_leads_to_its_turn(reviewer: Browser):
    client = Asking(trace_id="chat-1")
    client.ask("Курс?").answer("42")
    second = client.ask("Курс?", ai("42"), "Почему <b>?").answer("Потому")
    response = reviewer.get(LIST, {"q": "почему"})
    page = response.content.decode()
    turn = second.accepted.turn_id
    words = "q=%D0%BF%D0%BE%D1%87%D0%B5%D0%BC%D1%83"
    place = rf'{second.conversation.pk}/change/\?[^"]*&amp;turn={turn}&amp;{words}#turn-{turn}"'
    assert re.search(place, page)
    assert '<mark class="ca-hit">Почему</mark> &lt;b&gt;?' in page
    assert "1 conversation<" in page
    shown = reviewer.get(f"{LIST}{second.conversation.pk}/change/?turn={turn}&{words}")
    opened = shown.content.decode()
    assert '<mark class="ca-hit">Почему</mark> &lt;b&gt;?' in opened
    (live,) = re.findall(r'data-turn-url="([^"]+)"', opened)  # where a turn that changes is fetched
    again = reviewer.get(unescape(live).replace("/0/", f"/{turn}/")).content.decode()
    assert '<mark class="ca-hit">Почему</mark> &lt;b&gt;?' in again


@pytest.mark.database
def test_an_id_finds_its_conversation_whatever_the_filters(reviewer: Browser):
    asked = Asking(principal="playground:1", trace_id="chat-1").ask("Why?").answer("So.")
    for text in (str(asked.run_id), "chat-1", f"#{asked.conversation.pk}"):
        response = reviewer.get(LIST, {"q": text, "outcome": "failed"})
        assert titles(response) == ["Why?"], text
        assert "found by its id" in response.content.decode()
    assert titles(reviewer.get(LIST)) == []


@pytest.mark.database
@pytest.mark.usefixtures("_five_a_page")
def test_a_search_goes_on_page_by_page(reviewer: Browser):
    client = Asking()
    for index in range(8):
        client.ask(f"Bonds {index}").answer("Well.")
    response = reviewer.get(LIST, {"q": "bonds"})
    assert len(titles(response)) == 5
    assert "More than 5 conversations" in response.content.decode()
    second = reviewer.get(LIST + response.context["cl"].older_query)
    assert titles(second) == [f"Bonds {index}" for index in reversed(range(3))]
    assert titles(reviewer.get(LIST + second.context["cl"].newer_query)) == titles(response)


def test_a_search_needs_the_same_queries_for_one_hit_and_for_many(reviewer: Browser):
    client = Asking()
    client.ask("Bonds").answer("Well.")
    reviewer.get(LIST, {"q": "bonds"})
    with CaptureQueriesContext(connection) as one:
        reviewer.get(LIST, {"q": "bonds"})
    for _ in range(10):
        client.ask("Bonds").answer("Well.")
    with CaptureQueriesContext(connection) as many:
        assert len(titles(reviewer.get(LIST, {"q": "bonds"}))) == 11
    assert len(many) == len(one)


def test_an_earlier_answer_with_the_words_is_open(reviewer: Browser):
    client = Asking(trace_id="chat-1")
    client.ask("Why?").answer("Because of bonds")
    asked = client.ask("Why?").answer("Because")
    url = f"{LIST}{asked.conversation.pk}/change/"
    for query, opened in (({"q": "bonds"}, True), ({"q": "shares"}, False), ({}, False)):
        page = reviewer.get(url, query).content.decode()
        assert ('-answer-1" open>' in page) is opened
        assert ('<mark class="ca-hit">bonds</mark>' in page) is opened


@pytest.mark.database
def test_a_row_says_why_there_is_a_thumb_and_which_error(reviewer: Browser):
    asked = Asking().ask("Why?")
    asked.answer("-", ended=ending(Outcome.FAILED, error_code="no-model"))
    assert asked.accepted.turn_id is not None
    Feedback.objects.create(
        turn_id=asked.accepted.turn_id,
        source=FeedbackSource.END_USER,
        value=-1,
        tags=["Not <true>"],
    )
    Conversation.objects.update(n_down=1)
    page = reviewer.get(LIST).content.decode()
    assert "<bdi>Not &lt;true&gt;</bdi>" in page
    assert '<code class="ca-also">no-model</code>' in page


def test_an_unknown_value_of_a_filter_is_reported(reviewer: Browser):
    make_conversations(1)
    page = reviewer.get(LIST, {"copilot": "<nobody>", "version": "x"}).content.decode()
    assert page.count("Unknown value. Nothing is found.") == 2
    assert "&lt;nobody&gt;" in page
    assert "<nobody>" not in page


def test_filters_that_are_set_are_shown_and_can_be_taken_off(reviewer: Browser):
    make_conversations(1)
    page = reviewer.get(LIST, {"outcome": "completed", "days": "90"}).content.decode()
    chips = re.findall(r"<li><span>(.*?): <bdi>(.*?)</bdi></span> <a href=\"(.*?)\"", page)
    assert chips == [
        ("Period", "Last 90 days", "?outcome=completed"),
        ("Outcome", "Completed", "?days=90"),
    ]
