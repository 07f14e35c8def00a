"""The list of conversations."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext
import pytest

from copilot_admin.admin.transcripts import list_page
from copilot_admin.config.roles import Role
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.models import (
    Conversation,
    Copilot,
    Criterion,
    EndUser,
    Membership,
    Outcome,
    Removal,
    ReviewQueue,
    ReviewState,
    Verdict,
)
from tests.factories import make_copilot, make_user, make_version, sign_in
from tests.transcripts.store.journaling import Client as Asking
from tests.transcripts.store.journaling import ai, ending

pytestmark = pytest.mark.django_db
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


@pytest.fixture
def _five_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_page, "PAGE_SIZE", 5)


def first_url(response: Any, page: str = "change") -> str:
    row = response.context["rows"][0]
    return f"{LIST}{row['conversation'].pk}/{page}/?{row['query']}"


def titles(response: Any) -> list[str]:
    return [row["conversation"].title for row in response.context["rows"]]


def html_of(response: Any) -> str:
    assert response.status_code == 200
    return str(response.content.decode())


def browser_of(*roles: Role, **options: Any) -> Browser:
    return sign_in(make_user(*roles, **options))


def test_a_row_shows_outcome_feedback_and_the_chosen_columns(reviewer: Browser):
    label = Criterion.objects.create(name="wrong <number>")
    failed = ending(Outcome.FAILED, error_code="no-model")
    asked = Asking(version=make_version(make_copilot(name="News"))).ask("Why <b>?")
    conversation = asked.answer("-", ended=failed).conversation
    Conversation.objects.update(n_down=1)
    verdict = Verdict.objects.create(conversation=conversation, rating="bad")
    verdict.marks.create(criterion=label, value=1)
    page = html_of(reviewer.get(LIST))
    for text in (
        "Why &lt;b&gt;?",
        'data-outcome="failed"',
        "no-model",
        'data-thumb="down"',
        "News",
        '<span class="ca-chip ca-chip--bad">Bad</span>',
        '<span class="ca-tag">wrong &lt;number&gt;</span>',
        "data-unread",
    ):
        assert text in page, text
    names = [column.name for column in reviewer.get(LIST).context["columns"]]
    assert names == ["copilot", "verdict", "labels", "time"]  # nobody is known, nothing is priced
    reviewer.post(f"{LIST}columns/", {"column": ["model", "version", "tokens", "nonsense"]})
    response = reviewer.get(LIST)
    assert [column.name for column in response.context["columns"]] == ["model", "version", "tokens"]
    cells = [cell for _, cell in response.context["rows"][0]["cells"]]
    assert cells == ["small-1", "v1", "15"]
    reviewer.post(f"{LIST}columns/", {"reset": "1"})
    assert len(reviewer.get(LIST).context["columns"]) == 4
    row = html_of(reviewer.get(first_url(response, "row")))
    assert f'id="row-{conversation.pk}"' in row


def test_users_are_a_column_once_one_is_known(reviewer: Browser):
    hostile = "<img src=x onerror=alert(1)>\"'&{{ user.email }}"
    Asking(user=AskingUser(id=hostile, email=hostile, name=hostile)).ask("Hello").answer("Hi.")
    found = reviewer.get(LIST, {"user": hostile})
    assert titles(found) == ["Hello"]
    assert "user" in [column.name for column in found.context["columns"]]
    page = html_of(reviewer.get(first_url(found)))
    for text in (html_of(found), page):
        assert "<img src=x" not in text
        assert "&lt;img src=x onerror=alert(1)&gt;" in text


def test_the_number_of_queries_does_not_grow_with_the_rows(reviewer: Browser):
    make_conversations(51)
    reviewer.get(LIST)
    with CaptureQueriesContext(connection) as one:
        reviewer.get(LIST)
    make_conversations(60)
    with CaptureQueriesContext(connection) as many:
        assert len(titles(reviewer.get(LIST))) == 50
    assert len(many) == len(one) <= 30


@pytest.mark.database
@pytest.mark.usefixtures("_five_a_page")
def test_pages_follow_each_other_both_ways_and_keep_the_filters(reviewer: Browser):
    copilot = make_copilot()
    make_conversations(12, copilot)
    make_conversations(3)
    pages, url = [], f"{LIST}?copilot={copilot.slug}"
    while url:
        response = reviewer.get(url)
        pages.append(titles(response))
        following = response.context["pager"].get("next")
        url = LIST + following if following else ""
    assert [len(page) for page in pages] == [5, 5, 2]
    assert [title for page in pages for title in page] == [
        f"Question {index}" for index in reversed(range(12))
    ]
    back = reviewer.get(LIST + response.context["pager"]["previous"])
    assert titles(back) == pages[1]
    assert f"copilot={copilot.slug}" in back.context["pager"]["previous"]
    (chip,) = [chip for chip in response.context["chips"] if chip["name"] == "copilot"]
    assert (chip["shown"], chip["remove_url"]) == (copilot.name, "?")
    oldest = reviewer.get(LIST + response.context["sorts"]["active"]["url"])
    assert titles(oldest)[0] == "Question 0"


@pytest.mark.database
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": "trace-1"}, ["An Apple"]),
        ({"outcome": "failed"}, ["A Pear"]),
        ({"since": "2026-11-20"}, ["A Pear"]),
        ({"copilot": "nonsense"}, []),
        ({"after": "nonsense"}, ["A Pear", "An Apple"]),
        ({"after": f"{10**30}-1"}, ["A Pear", "An Apple"]),
        ({"edit": "model"}, ["A Pear", "An Apple"]),
        ({"edit": "nonsense", "label": "x"}, []),
        ({"sort": "oldest"}, ["An Apple", "A Pear"]),
        ({"sort": "started"}, ["A Pear", "An Apple"]),
        ({"sort": "first"}, ["An Apple", "A Pear"]),
    ],
)
def test_filters_search_and_order(reviewer: Browser, query, found):
    make_conversations(1, title="An Apple", trace_id="trace-1", last_at=NOON - timedelta(days=2))
    make_conversations(1, title="A Pear", last_outcome=Outcome.FAILED, has_error=True)
    response = reviewer.get(LIST, query)
    assert titles(response) == found
    assert ("ca-empty" in html_of(response)) is (not found)


def test_a_chip_shows_a_day_as_the_pages_do(reviewer: Browser):
    chips = reviewer.get(LIST, {"since": "2026-11-05", "until": "nonsense"}).context["chips"]
    assert [chip["shown"] for chip in chips] == ["5 Nov 2026", "nonsense"]


def test_unknown_filters_and_values_are_reported(reviewer: Browser):
    make_conversations(1)
    page = html_of(reviewer.get(LIST, {"copilot": "<nobody>", "version": "x"}))
    assert page.count('class="ca-error"') == 2
    assert "<nobody>" not in page
    assert reviewer.get(LIST, {"nonsense": "1"}).status_code == 400


@pytest.mark.parametrize(
    ("query", "label", "number"),
    [
        ({}, "All", "4"),
        ({"judged": "down"}, "Thumbs down", "1"),
        ({"judged": "down", "days": "90"}, "Thumbs down", "1"),
        ({"outcome": "any-failed"}, "Errors", "1"),
        ({"state": "new"}, "Unreviewed", "3"),
    ],
)
def test_tabs_count_and_mark_the_current_view(reviewer: Browser, query, label, number):
    make_conversations(1, n_down=1)
    make_conversations(1, has_error=True)
    make_conversations(1)
    make_conversations(1, review_state=ReviewState.DONE)
    (current,) = [tab for tab in reviewer.get(LIST, query).context["tabs"] if tab["is_current"]]
    assert (current["label"], current["count"]) == (label, number)


@pytest.mark.database
def test_a_search_marks_the_words_and_links_to_their_turn(reviewer: Browser):
    client = Asking(trace_id="chat-1")
    client.ask("Курс?").answer("42")
    second = client.ask("Курс?", ai("42"), "Почему <b>?").answer("Потому")
    response = reviewer.get(LIST, {"q": "почему"})
    assert "<mark>Почему</mark> &lt;b&gt;?" in html_of(response)
    url = first_url(response)
    turn = second.accepted.turn_id
    assert f"turn={turn}" in url
    opened = html_of(reviewer.get(url))
    assert '<mark class="ca-hit">Почему</mark> &lt;b&gt;?' in opened
    words = url.partition("?")[2]
    again = reviewer.get(f"{LIST}{second.conversation.pk}/turns/{turn}/?{words}")
    assert '<mark class="ca-hit">Почему</mark> &lt;b&gt;?' in html_of(again)


@pytest.mark.database
def test_an_id_finds_its_conversation_whatever_the_filters(reviewer: Browser):
    asked = Asking(principal="playground:1", trace_id="chat-1").ask("Why?").answer("So.")
    for text in (str(asked.run_id), "chat-1", f"#{asked.conversation.pk}"):
        assert titles(reviewer.get(LIST, {"q": text, "outcome": "failed"})) == ["Why?"], text
    assert titles(reviewer.get(LIST)) == []


# ---- Selected conversations ----


def bulk(browser: Browser, action: str, **more: Any) -> Any:
    ids = list(
        Conversation.objects.filter(title__startswith="Question").values_list("pk", flat=True)
    )
    sent = {"action": action, "chosen": ids, "_changelist_filters": "state=new", **more}
    return browser.post(f"{LIST}bulk/", sent)


def test_selected_conversations_are_labeled_reviewed_and_queued(reviewer: Browser):
    label = Criterion.objects.create(name="wrong number")
    queue = ReviewQueue.objects.create(name="Week")
    make_conversations(2)
    make_conversations(1, title="Another")
    assert bulk(reviewer, f"label:{label.pk}")["Location"] == f"{LIST}?state=new"
    assert titles(reviewer.get(LIST, {"label": label.pk})) == ["Question 1", "Question 0"]
    assert set(Verdict.objects.values_list("rating", flat=True)) == {""}
    bulk(reviewer, f"queue:{queue.pk}")
    assert titles(reviewer.get(LIST, {"queue": queue.pk})) == ["Question 1", "Question 0"]
    bulk(reviewer, "reviewed")
    assert titles(reviewer.get(LIST, {"state": "new"})) == ["Another"]
    bulk(reviewer, "unreviewed")
    assert len(titles(reviewer.get(LIST, {"state": "new"}))) == 3
    assert bulk(reviewer, "label:0").status_code == 404
    assert bulk(reviewer, "queue:0").status_code == 404


@pytest.mark.parametrize(
    ("action", "path"),
    [
        ("export", "/admin/copilot_admin/transcriptexport/add/"),
        ("new-queue", "/admin/copilot_admin/reviewqueue/add/"),
        ("tests", f"{LIST}learn/"),
    ],
)
def test_a_selection_becomes_a_filter_of_other_pages(reviewer: Browser, action: str, path: str):
    make_conversations(2)
    location = bulk(reviewer, action)["Location"]
    assert location.startswith(path)
    ids = ",".join(
        map(str, Conversation.objects.order_by("-last_at", "-id").values_list("pk", flat=True))
    )
    assert ids.replace(",", "%2C") in location


def test_deleting_needs_its_permission_and_a_confirmation(reviewer: Browser):
    make_conversations(2)
    assert bulk(reviewer, "delete").status_code == 403
    admin = browser_of(is_superuser=True)
    assert (
        Conversation.objects.count() == html_of(bulk(admin, "delete")).count('name="chosen"') == 2
    )
    bulk(admin, "delete", sure="1")
    assert Removal.objects.count() == 2


# ---- Builders ----


def test_builders_get_no_suggestions_of_users_whom_other_copilots_know():
    EndUser.objects.create(identifier="u-1", name="Elif", first_at=NOON, last_at=NOON)
    builder, reviewer = (sign_in(make_user(role)) for role in (Role.BUILDERS, Role.REVIEWERS))
    assert "Elif" in html_of(reviewer.get(LIST, {"edit": "user"}))
    assert "Elif" not in html_of(builder.get(LIST, {"edit": "user"}))


def test_builders_see_the_conversations_of_their_own_copilots():
    builder = make_user(Role.BUILDERS)
    browser = sign_in(builder)
    assert titles(browser.get(LIST)) == []
    mine, other = (Asking(trace_id=f"chat-{n}").ask(f"{n}?").answer("42") for n in range(2))
    Membership.objects.create(copilot=mine.conversation.copilot, user=builder)
    response = browser.get(LIST)
    assert titles(response) == ["0?"]
    assert "My queue" not in [tab["label"] for tab in response.context["tabs"]]
    for text in ("chat-1", str(other.run_id), f"#{other.conversation.pk}"):
        assert titles(browser.get(LIST, {"q": text})) == []
    page = html_of(browser.get(first_url(response)))
    assert "verdict-form" not in page
    for rest in ("change/", "panel/", f"turns/{other.accepted.turn_id}/", f"runs/{other.run_id}/"):
        assert browser.get(f"{LIST}{other.conversation.pk}/{rest}").status_code == 404
    here = f"{LIST}{mine.conversation.pk}/"
    assert browser.post(f"{here}review/", {"rating": "good"}).status_code == 403
    assert (
        browser.post(
            f"{LIST}bulk/", {"action": "reviewed", "chosen": mine.conversation.pk}
        ).status_code
        == 403
    )
    response = browser.get(LIST, {"copilot": mine.conversation.copilot.slug, "from": "copilot"})
    assert response.context["copilot_header"]["copilot"] == mine.conversation.copilot


def test_the_right_to_review_does_not_include_reading():
    from django.contrib.auth.models import Permission

    person = make_user()
    person.user_permissions.set(Permission.objects.filter(codename="change_conversation"))
    browser = sign_in(person)
    assert browser.get(LIST).status_code == 403
