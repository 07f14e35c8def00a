"""A reviewer finds, reads and judges by keyboard; long conversations come as they are read."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
import re

from django.contrib.auth.models import Group, User
from django.utils import timezone
from playwright.sync_api import Browser, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import (
    Conversation,
    Criterion,
    Feedback,
    ReviewQueue,
    TestCase,
    Turn,
    TurnNote,
    Verdict,
)
from copilot_admin.review.queues import make_queue
from tests.admin.transcripts.test_again import asked_with_data
from tests.admin.transcripts.test_list import make_conversations
from tests.admin.transcripts.transcript_rows import long_conversation
from tests.browser.test_keyboard import Keys
from tests.browser.test_playground import answered
from tests.browser.visits import LOOKS, Visit, visit, visiting
from tests.factories import make_copilot, make_user
from tests.transcripts.store.journaling import Client, ai

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LIST = "/admin/copilot_admin/conversation/"
COMPLAINT = "我要投诉这个答案"


@pytest.fixture
def server(base_url: str) -> str:
    make_user(Role.REVIEWERS, username="eve")
    return base_url


def ready(person: Visit) -> None:
    """Waits until the page takes keys."""
    person.page.wait_for_load_state()
    expect(person.page.locator("[data-help]")).to_be_visible()


@pytest.fixture
def eve(browser: Browser, server: str) -> Iterator[Visit]:
    """A reviewer who has logged in; nothing untoward may happen to her."""
    with visiting(browser, server, "eve") as person:
        yield person


@pytest.mark.nightly
def test_a_complaint_is_found_among_ten_thousand_read_and_judged_by_keyboard(eve: Visit):
    make_conversations(10_000, make_copilot())
    Criterion.objects.create(name="Wrong number")
    client = Client(trace_id="complaint")
    client.ask(COMPLAINT).answer("Sorry.")
    complaint = client.ask(COMPLAINT, ai("Sorry."), "为什么?").answer("Because.").conversation
    turns = list(Turn.objects.filter(conversation=complaint).order_by("id"))
    Feedback.objects.create(turn=turns[1], source="end_user", value=-1)
    other = Client(trace_id="other").ask("又投诉").answer("Sorry too.").conversation
    Conversation.objects.filter(pk=other.pk).update(last_at=complaint.last_at - timedelta(days=1))
    page = eve.page
    eve.go(LIST)
    page.get_by_role("searchbox").fill("投诉")
    page.keyboard.press("Enter")
    found = page.get_by_role("link", name=COMPLAINT)
    found.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(COMPLAINT)
    ready(eve)
    page.keyboard.press("t")
    assert page.evaluate("document.activeElement.id") == f"turn-{turns[1].pk}"
    page.keyboard.press("m")
    page.keyboard.type("He is right.")
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    page.keyboard.press("4")
    page.keyboard.press("c")
    page.keyboard.type("Check the numbers")
    page.keyboard.press("Escape")
    page.keyboard.press("S")
    expect(page.get_by_role("heading", level=1)).to_have_text("又投诉")
    expect(page.get_by_text("Your verdict is kept.")).to_be_visible()
    verdict = Verdict.objects.get()
    assert (verdict.rating, verdict.comment) == ("bad", "Check the numbers")
    assert [mark.criterion.name for mark in verdict.marks.all()] == ["Wrong number"]
    ready(eve)
    page.keyboard.press("p")
    expect(page.get_by_role("heading", level=1)).to_have_text(COMPLAINT)
    ready(eve)
    page.keyboard.press("b")
    expect(page.get_by_role("searchbox")).to_have_value("投诉")


def test_turns_come_as_they_are_read_and_live_ones_as_they_are_asked(eve: Visit):
    conversation = long_conversation(40)
    Conversation.objects.filter(pk=conversation.pk).update(last_at=timezone.now())
    turns = list(Turn.objects.filter(conversation=conversation).order_by("id"))
    page = eve.page
    eve.go(f"{LIST}{conversation.pk}/change/")
    last = page.locator(f"#turn-{turns[-1].pk}")
    expect(page.locator("[data-turn]")).to_have_count(40)
    expect(last.get_by_text("Answer 39")).to_have_count(0)
    last.scroll_into_view_if_needed()
    expect(last.get_by_text("Answer 39")).to_be_visible()
    expect(page.locator(f"#turn-{turns[20].pk}").get_by_text("Answer 20")).to_have_count(0)
    page.evaluate(f"document.getElementById('turn-{turns[19].pk}').focus()")
    page.keyboard.press("j")
    expect(page.locator(f"#turn-{turns[20].pk}").get_by_text("Answer 20")).to_be_visible()
    assert page.evaluate("document.activeElement.id") == f"turn-{turns[20].pk}"
    page.keyboard.press("e")
    expect(page.get_by_role("status")).to_have_text("There is none further on.")
    page.keyboard.press("Control+f")
    expect(page.locator("[data-later]")).to_have_count(0)


@pytest.mark.nightly
def test_a_queue_is_read_from_the_list_to_its_close_without_a_mouse_or_a_lost_focus(eve: Visit):
    Criterion.objects.create(name="Wrong number")
    for number in (1, 2):
        client = Client(trace_id=f"t-{number}")
        client.ask("Price?").answer("42")
        client.ask("Price?", ai("42"), f"Sure {number}?").answer("Yes.")
    for turn in Turn.objects.filter(human_node__text__startswith="Sure"):
        Feedback.objects.create(turn=turn, source="end_user", value=-1)
    page, keys = eve.page, Keys(eve)
    eve.go(LIST)
    keys.to(page.get_by_role("searchbox"))
    page.keyboard.type("price")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=price**")
    keys.press(page.get_by_role("link", name="Make a queue"))
    keys.to(page.get_by_label("Name"))
    page.keyboard.type("Week")
    page.keyboard.press("Enter")
    keys.press(page.get_by_role("button", name="Read the next"))
    for number in (1, 2):
        ready(eve)
        page.keyboard.press("t")
        thumbed = page.locator("[data-turn][data-thumb]")
        expect(thumbed).to_be_focused()
        expect(thumbed).to_have_accessible_name(re.compile("2"))
        page.keyboard.press("m")
        expect(page.locator(":focus")).to_have_accessible_name(re.compile("[Nn]ote"))
        page.keyboard.type(f"Look {number}")
        keys.press(thumbed.get_by_role("button", name="Save note"))
        expect(thumbed.get_by_text(f"Look {number}")).to_be_visible()
        ready(eve)
        expect(thumbed).to_be_focused()
        page.keyboard.press("3")
        expect(page.get_by_role("radio", name="Bad")).to_be_focused()
        page.keyboard.press("4")
        expect(page.get_by_role("checkbox", name="Wrong number")).to_be_checked()
        page.keyboard.press("c")
        expect(page.get_by_role("textbox", name="Comment")).to_be_focused()
        page.keyboard.type("So so")
        page.keyboard.press("Escape")
        expect(page.get_by_role("complementary", name="Review")).to_be_focused()
        page.keyboard.press("S")
        expect(page.get_by_text("Your verdict is kept.")).to_be_visible()
    keys.press(page.get_by_role("button", name="Close the queue"))
    expect(page.get_by_role("button", name="Open it again")).to_be_visible()
    assert ReviewQueue.objects.get().is_closed
    assert sorted(TurnNote.objects.values_list("text", flat=True)) == ["Look 1", "Look 2"]
    assert {(one.rating, one.comment) for one in Verdict.objects.all()} == {("bad", "So so")}


@pytest.mark.nightly
def test_a_question_is_opened_in_the_playground_with_its_data(eve: Visit):
    conversation, turn = asked_with_data()
    reviewer = User.objects.get(username="eve")
    reviewer.groups.add(Group.objects.get(name=Role.BUILDERS))
    page = eve.page
    eve.go(f"{LIST}{conversation.pk}/change/?turn={turn.pk}")
    margin = page.locator(f"#turn-{turn.pk} .ca-margin")
    margin.get_by_role("link", name="Try it in the playground").click()
    panel = page.locator("#beside")
    expect(panel.get_by_label("Question", exact=True)).to_have_value("Prices 'of' <Apple>?")
    prices = panel.locator(".ca-play-widget").filter(has_text=re.compile("^Prices"))
    expect(prices.locator("select")).to_have_value("primary")
    expect(panel.locator("[data-play-timezone]")).to_have_value("Europe/Rome")
    panel.get_by_role("button", name="Ask", exact=True).click()
    answered(page, 1)
    panel.get_by_role("button", name="Save question").click()
    expect(panel.get_by_role("link", name="The question is saved.")).to_be_visible()
    # Both go when the transcript that they come from is erased.
    assert Conversation.objects.exclude(pk=conversation.pk).get().origin == conversation.pk
    assert TestCase.objects.get().origin == conversation.pk


@pytest.mark.parametrize("look", LOOKS)
def test_pages_of_the_review_are_accessible_and_fit(browser: Browser, server: str, look):
    Criterion.objects.create(name="Wrong number")
    Criterion.objects.create(name="Tone", kind="score")
    conversation = long_conversation(9)
    turn = Turn.objects.filter(conversation=conversation).earliest("id")
    queue = ReviewQueue(name="Week", judges=2)
    make_queue(queue, [conversation.pk])
    eve = visit(browser, server, **look)
    eve.log_in("eve")
    findings = []
    for path in (
        f"{LIST}{conversation.pk}/change/?queue={queue.pk}",
        f"{LIST}{conversation.pk}/turns/{turn.pk}/verdict/",
        "/admin/copilot_admin/reviewqueue/",
        "/admin/copilot_admin/reviewqueue/add/",
        f"/admin/copilot_admin/reviewqueue/{queue.pk}/change/",
    ):
        eve.go(path)
        assert eve.runs_as_its_look(look)
        eve.unfold()
        findings += [(path, *one) for one in eve.grave_findings()]
        assert eve.overflow_on_tour() <= 0, path
    eve.page.context.close()
    assert findings == []
    assert eve.mishaps == []


@pytest.mark.nightly  # its HTML is read by day without a browser
def test_what_the_list_shows_is_taken_along_as_a_page_that_runs_nothing(eve: Visit, tmp_path: Path):
    hostile = "<img src=https://evil.example/x onerror=alert(1)><script>alert(2)</script>"
    Client(trace_id="t").ask(hostile).answer(hostile)
    eve.go(LIST)
    eve.page.get_by_role("link", name="Export these").click()
    eve.page.get_by_label("HTML").check()
    assert eve.grave_findings() == []
    eve.page.get_by_role("button", name="Begin the export").click()
    with eve.page.expect_download() as downloading:
        eve.page.get_by_role("link", name="Download").click()
    file = tmp_path / downloading.value.suggested_filename
    downloading.value.save_as(file)
    assert eve.grave_findings() == []
    page = eve.page.context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    expect(page.locator("pre").first).to_have_text(hostile)
    assert asked == [file.as_uri()]
