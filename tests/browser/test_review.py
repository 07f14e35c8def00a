"""A reviewer finds, filters, reads, rates and goes on, by mouse and by keyboard."""

from collections.abc import Iterator
from datetime import timedelta

from django.utils import timezone
from playwright.sync_api import Browser, Dialog, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Conversation, Criterion, ReviewQueue, ReviewState, Turn, Verdict
from copilot_admin.review.queues import add_to_queue
from tests.admin.transcripts.test_pages import hostile_conversation
from tests.admin.transcripts.transcript_rows import long_conversation, rich_conversation
from tests.browser.visits import LOOKS, PHONE, Visit, visit, visiting
from tests.factories import make_user, make_version
from tests.rendering.hostile_texts import PAYLOADS
from tests.transcripts.store.journaling import Client, ending

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LIST = "/admin/copilot_admin/conversation/"


@pytest.fixture
def server(service_url: str) -> str:
    make_user(Role.REVIEWERS, username="eve")
    return service_url


@pytest.fixture
def eve(browser: Browser, server: str) -> Iterator[Visit]:
    with visiting(browser, server, "eve") as person:
        yield person


def make_rows(number: int = 4) -> list[Conversation]:
    """Conversations of today, newest first; the second one failed."""
    client = Client(version=make_version(name="Rates Desk"))
    rows = []
    for place in range(number):
        ended = ending("failed", error="Down", error_code="X") if place == 1 else ending()
        asked = client.another(trace_id=f"t{place}").ask(f"Question {place}?")
        row = asked.answer(f"Answer {place}.", ended=ended).conversation
        row.last_at = timezone.now() - timedelta(minutes=place)
        row.save()
        rows.append(row)
    return rows


def test_by_mouse_from_a_filter_to_the_next_conversation(eve: Visit) -> None:
    rows = make_rows()
    label = Criterion.objects.create(name="wrong number")
    page = eve.page
    eve.go(LIST)
    page.locator(".ca-tabs a", has_text="Errors").click()
    expect(page.locator("#conversations tbody tr")).to_have_count(1)
    page.locator(".ca-tabs a").first.click()
    page.locator("[data-filter-menu] summary").click()
    page.locator('[data-filter-menu] a[href*="edit=state"]').click()
    page.locator('[data-filter="state"] .ca-menu__list a', has_text="New").click()
    expect(page.locator("#conversations tbody tr")).to_have_count(4)

    page.locator(f"#row-{rows[0].pk} .ca-c-question a").click()
    panel = page.locator("#panel")
    expect(panel.locator("[data-answer]")).to_contain_text("Answer 0.")
    panel.locator(".ca-verdict label", has_text="Bad").click()
    panel.locator(".ca-filter", has_text="wrong number").click()
    panel.locator("textarea").fill("Too low.")
    panel.locator('[name="_next"]').click()
    expect(panel.locator(".ca-note--bad")).to_contain_text("Down")  # the next one, which failed
    expect(page.locator(f"#row-{rows[0].pk}")).to_contain_text("wrong number")
    verdict = Verdict.objects.get()
    assert (verdict.rating, verdict.comment) == ("bad", "Too low.")
    assert verdict.marks.get().criterion == label
    panel.locator('[data-step="1"]').click()
    expect(panel.locator("[data-answer]")).to_contain_text("Answer 2.")
    panel.locator("#open-page").click()
    expect(page.locator("h1")).to_have_text("Question 2?")
    page.locator('a[rel="next"]').click()
    expect(page.locator("h1")).to_have_text("Question 3?")


def test_by_keyboard_from_the_list_to_the_next_conversation(eve: Visit) -> None:
    rows = make_rows(3)
    page = eve.page
    eve.go(LIST)
    page.keyboard.press("j")
    page.keyboard.press("j")
    panel = page.locator("#panel")
    expect(panel.locator("[data-answer]")).to_contain_text("Answer 1.")
    page.keyboard.press("1")
    page.keyboard.press("S")
    expect(panel.locator("[data-answer]")).to_contain_text("Answer 2.")
    assert Verdict.objects.get().conversation == rows[1]
    page.keyboard.press("k")
    page.keyboard.press("x")
    expect(page.locator("[data-selected]")).to_contain_text("1")
    page.locator(f"#row-{rows[1].pk} .ca-c-question a").press("Enter")
    expect(page.locator("h1")).to_have_text("Question 1?")
    page.keyboard.press("?")
    expect(page.locator("#keyboard-help")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    page.keyboard.press("S")
    expect(page.locator("h1")).to_have_text("Question 2?")
    assert Verdict.objects.get().rating == "bad"
    assert Conversation.objects.get(pk=rows[1].pk).review_state == ReviewState.DONE


def test_an_answer_is_rated_below_it_and_its_trace_opens_beside(eve: Visit) -> None:
    (row,) = make_rows(1)
    page = eve.page
    eve.go(f"{LIST}{row.pk}/change/")
    turn = page.locator("[data-turn]")
    turn.locator('[data-key="v"]').click()
    expect(turn.locator("[data-answer]")).to_contain_text("Answer 0.")
    turn.locator("[data-rate] .ca-verdict label", has_text="Mixed").click()
    turn.locator("[data-rate] button").click()
    expect(turn.locator('[data-verdict="mixed"]')).to_be_visible()
    turn.locator("[data-trace]").click()
    expect(page.locator(".ca-trace li")).to_have_count(2)
    raw = page.locator("#trace .ca-block > details").last
    raw.locator("summary").click()
    expect(raw.locator("pre").first).to_contain_text("Question 0?")


def test_later_turns_load_when_they_come_into_view(eve: Visit) -> None:
    conversation = long_conversation(12)
    eve.go(f"{LIST}{conversation.pk}/change/")
    last = eve.page.locator("[data-turn]").last
    last.scroll_into_view_if_needed()
    expect(last.locator("[data-answer]")).to_contain_text("Answer 11")
    for _ in range(3):
        eve.page.keyboard.press("k")
    assert "#turn-" in eve.page.url


@pytest.mark.parametrize("look", LOOKS)
def test_pages_are_accessible_and_fit(browser: Browser, server: str, look) -> None:
    Criterion.objects.create(name="Wrong number")
    Criterion.objects.create(name="Tone", kind="score")
    make_rows()
    conversation = rich_conversation()
    turn = Turn.objects.filter(conversation=conversation).earliest("id")
    queue = ReviewQueue.objects.create(name="Week", judges=2)
    add_to_queue(queue, [conversation.pk])
    eve = visit(browser, server, **look)
    eve.log_in("eve")
    findings = []
    here = f"{LIST}{conversation.pk}/"
    for path in (
        LIST,
        f"{LIST}?q=nothing&edit=model",
        f"{here}change/?queue={queue.pk}",
        f"{here}turns/{turn.pk}/trace/",
        f"{here}turns/{turn.pk}/verdict/",
        "/admin/copilot_admin/reviewqueue/",
        "/admin/copilot_admin/reviewqueue/add/",
        f"/admin/copilot_admin/reviewqueue/{queue.pk}/change/",
        "/admin/copilot_admin/transcriptexport/add/",
    ):
        eve.go(path)
        findings += [(path, *one) for one in eve.grave_findings()]
        if (pixels := eve.overflow_on_tour()) > 0:
            findings.append((path, "overflow", str(pixels)))
    eve.page.context.close()
    assert findings == []
    assert eve.mishaps == []


def test_a_phone_opens_the_page_instead_of_the_panel(browser: Browser, server: str) -> None:
    make_rows(2)
    with visiting(browser, server, "eve", viewport=PHONE) as eve:
        eve.go(LIST)
        eve.page.locator(".ca-c-question a").first.click()
        expect(eve.page.locator("h1")).to_have_text("Question 0?")


def test_no_text_of_others_does_anything(eve: Visit) -> None:
    row = hostile_conversation("\n\n".join(PAYLOADS))
    dialogs: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    eve.page.on("dialog", dismiss)
    eve.go(f"{LIST}{row.pk}/change/")
    eve.unfold()
    eve.page.locator("[data-trace]").last.dispatch_event("click")
    expect(eve.page.locator(".ca-trace li").first).to_be_attached()
    eve.next_frames()
    eve.go(LIST)
    eve.page.locator(".ca-c-question a").first.click()
    expect(eve.page.locator("#panel [data-turn]").first).to_be_attached()
    assert dialogs == []
