"""A form is sent once, also by who presses twice or holds a key down."""

from collections.abc import Iterator

from django.urls import reverse
from playwright.sync_api import Browser, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot, EndpointKey
from tests.admin.transcripts.transcript_rows import long_conversation
from tests.browser.visits import Visit, visiting
from tests.factories import make_copilot, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HELD = 5  # times that a key is told while it is held down
# What the browser is left to send outlives the page there.
PRESS_TWICE = """(button) => {
  addEventListener("submit", ({ defaultPrevented }) => {
    if (!defaultPrevented) {
      sessionStorage.sent = (sessionStorage.sent ?? "") + "sent";
    }
  });
  button.click();
  button.click();
}"""
COUNT_CLICKS = """(link) => {
  window.clicks = 0;
  link.addEventListener("click", (event) => {
    event.preventDefault();
    clicks += 1;
  });
}"""
# As a person does who presses Escape while the next page is on its way.
STOP_NEXT = """() => navigation.addEventListener("navigate", () => setTimeout(() => {
  window.stop();
  document.documentElement.dataset.stopped = "";
}), { once: true })"""


@pytest.fixture
def ada(browser: Browser, base_url: str) -> Iterator[Visit]:
    make_user(Role.BUILDERS, Role.OPERATORS, Role.REVIEWERS, username="ada")
    make_copilot(name="News")
    with visiting(browser, base_url, "ada") as person:
        yield person


@pytest.fixture
def posted(ada: Visit) -> list[str]:
    """The addresses to which forms are sent."""
    found: list[str] = []
    ada.page.on(
        "request",
        lambda one: (
            found.append(one.url) if one.is_navigation_request() and one.method == "POST" else None
        ),
    )
    return found


def test_a_key_is_made_once_by_who_presses_twice(ada: Visit) -> None:
    ada.go(reverse("admin:copilot_admin_endpointkey_add"))
    ada.page.get_by_label("Name").fill("Desk")
    ada.page.get_by_role("button", name="Make the key").evaluate(PRESS_TWICE)
    expect(ada.page.get_by_role("heading", name="Your new key")).to_be_visible()
    assert ada.page.evaluate("sessionStorage.sent") == "sent"
    assert EndpointKey.objects.count() == 1


def test_a_draft_is_saved_once_while_the_keys_are_held_down(ada: Visit, posted: list[str]) -> None:
    ada.go(reverse("admin:copilot_admin_copilot_change", args=[Copilot.objects.get().pk]))
    ada.page.get_by_label("Description").fill("Held")
    ada.page.keyboard.down("Control")
    for _time in range(HELD):
        ada.page.keyboard.down("s")
    expect(ada.page.get_by_text("Draft saved.")).to_be_visible()
    assert len(posted) == 1


def test_a_key_that_is_held_down_goes_one_conversation_on(ada: Visit) -> None:
    newest = [long_conversation(turns=1) for _time in range(2)][-1]
    ada.go(reverse("admin:copilot_admin_conversation_change", args=[newest.pk]))
    ada.page.get_by_role("link", name="Older").evaluate(COUNT_CLICKS)
    for _time in range(HELD):
        ada.page.keyboard.down("n")
    assert ada.page.evaluate("clicks") == 1


@pytest.mark.nightly
def test_a_note_keeps_the_focus_when_a_sign_is_given_up(ada: Visit) -> None:
    ada.go(reverse("admin:copilot_admin_conversation_change", args=[long_conversation(turns=1).pk]))
    comment = ada.page.get_by_label("Comment")
    comment.focus()
    comment.dispatch_event("keydown", {"key": "Escape", "isComposing": True})
    expect(comment).to_be_focused()
    comment.press("Escape")
    expect(comment).not_to_be_focused()


@pytest.mark.nightly
def test_who_stops_saving_is_asked_before_the_edits_are_left(ada: Visit) -> None:
    page = ada.page
    ada.go(reverse("admin:copilot_admin_copilot_change", args=[Copilot.objects.get().pk]))
    page.get_by_label("Description").fill("Half a thought")
    page.evaluate(STOP_NEXT)
    page.get_by_role("button", name="Save draft").click(no_wait_after=True)
    expect(page.locator("html[data-stopped]")).to_be_attached()  # it asks for the log-in first
    page.on("dialog", lambda dialog: dialog.dismiss())
    with page.expect_event("dialog"):
        page.get_by_role("link", name="Start").first.click(no_wait_after=True)
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("Draft saved.")).to_be_visible()


@pytest.mark.nightly
def test_who_stops_a_search_goes_on_with_its_fields(ada: Visit) -> None:
    ada.go(reverse("admin:copilot_admin_conversation_changelist"))
    search = ada.page.get_by_role("searchbox")
    ada.page.evaluate(STOP_NEXT)
    ada.page.get_by_role("button", name="Search").click(no_wait_after=True)
    expect(search).to_be_enabled()
