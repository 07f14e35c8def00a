"""A thumb down becomes a saved question, and its replay against a draft shows what changed."""

from collections.abc import Iterator

from playwright.sync_api import Browser, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Conversation, Copilot, Feedback, FeedbackSource, Turn
from tests.browser.visits import Visit, visiting
from tests.factories import make_user
from tests.transcripts.store.journaling import Client as Asking

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def zoe(browser: Browser, base_url: str) -> Iterator[Visit]:
    """Somebody who reads transcripts and makes copilots."""
    make_user(Role.REVIEWERS, Role.BUILDERS, username="zoe")
    with visiting(browser, base_url, "zoe") as person:
        yield person


@pytest.mark.nightly  # by day admin/transcripts/test_learning.py and studio/test_replays.py go this way
def test_a_thumb_down_becomes_a_saved_question_whose_replay_shows_what_changed(zoe: Visit):
    Asking().ask("How is Apple?").answer("A bad answer <b>of yesterday</b>.")
    Asking().ask("Nobody minded this?").answer("Fine.")
    turn = Turn.objects.order_by("pk")[0]
    Feedback.objects.create(turn=turn, value=-1, source=FeedbackSource.END_USER)
    Conversation.objects.filter(pk=turn.conversation_id).update(n_down=1)
    Copilot.objects.update(system_prompt="You answer better now.")
    page = zoe.page
    zoe.go("/admin/copilot_admin/conversation/")
    page.get_by_role("checkbox", name="Choose “How is Apple?”").check()
    page.get_by_role("button", name="Save as questions").click()
    page.get_by_role("button", name="Only those with a thumb down").click()
    expect(page.get_by_text("They have one question.")).to_be_visible()
    page.get_by_label("Label").fill("thumbs down")
    page.get_by_role("button", name="Save them").click()
    expect(page.get_by_role("status")).to_have_text("One question is saved.")
    page.locator("#content-main ul a").first.click()
    page.get_by_role("link", name="Replays").click()
    page.get_by_label("Questions").select_option("thumbs down")
    page.get_by_role("button", name="Start the replay").click()
    expect(page.get_by_text("1 of 1 changed")).to_be_visible()
    expect(page.get_by_role("region", name="Before")).to_have_text(
        "A bad answer <b>of yesterday</b>."
    )
    expect(page.get_by_role("region", name="Now")).to_contain_text("You answer better now.")
    page.get_by_text("What the new answer says otherwise").click()
    expect(page.locator("details del").first).to_be_visible()
    assert zoe.grave_findings() == []
