"""Somebody publishes a copilot, is led to what Workspace wants to know, and tests it."""

from collections.abc import Iterator
import os
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.connection_test.steps import StepName
from copilot_admin.copilots.callers import identify
from copilot_admin.models import Access, Conversation, EndpointKey, Run
from tests.browser.visits import LOOKS, PHONE, Visit, visit, visiting
from tests.factories import make_copilot, make_published, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PICTURES = os.environ.get("TEST_PICTURES", "")  # a folder: what the pages look like is kept there


@pytest.fixture
def ada(browser: Browser, base_url: str) -> Iterator[Visit]:
    make_user(Role.BUILDERS, Role.OPERATORS, username="ada")
    with visiting(browser, base_url, "ada") as person:
        yield person


def press(page: Page, role: Any, name: str) -> None:
    """Presses something with the keyboard."""
    page.get_by_role(role, name=name, exact=True).focus()
    page.keyboard.press("Enter")


def verdicts(page: Page) -> dict[str, str | None]:
    """How each step ended, as the page has it."""
    return {
        str(step.get_attribute("data-step")): step.get_attribute("data-verdict")
        for step in page.locator("[data-step]").all()
    }


@pytest.mark.nightly
def test_from_publishing_to_a_tested_connection_with_the_keyboard_alone(ada: Visit):
    page = ada.page
    copilot = make_copilot(name="News", access=Access.KEY)
    ada.go(f"/admin/copilot_admin/copilot/publish/?id={copilot.pk}")
    page.locator("#publish-form .ca-btn--primary").press("Enter")
    page.locator('[data-message=success] a[href^="/admin/connect/"]').press("Enter")
    expect(page.get_by_label("Server URL", exact=True)).to_have_value(ada.base_url)

    press(page, "button", "Create key")
    made = page.get_by_label("New key", exact=True).input_value()
    assert identify(made).copilot_ids == frozenset({copilot.pk})
    assert ada.grave_findings() == []

    # The test of what was just published begins by itself, as soon as there is its key.
    expect(page.locator("#test-summary")).to_have_attribute("data-passed", "10")
    expect(page.locator("#test-summary")).to_have_attribute("data-failed", "0")
    assert verdicts(page) == {name.value: "good" for name in StepName} | {"address": "warn"}
    expect(page.get_by_label("New key", exact=True)).to_have_value(made)
    assert ada.grave_findings() == []
    assert Run.objects.count() == 3
    assert not Conversation.objects.of_callers().exists()
    assert EndpointKey.objects.count() == 1


@pytest.mark.nightly
@pytest.mark.parametrize("look", LOOKS)
def test_the_page_fits_and_can_be_read(
    browser: Browser, base_url: str, look: dict[str, Any], request: pytest.FixtureRequest
):
    make_user(is_superuser=True, username="ida")
    ida = visit(browser, base_url, **look)
    ida.log_in("ida")
    copilot = make_published(access=Access.KEY, name="News of the day")
    ida.go(f"/admin/connect/{copilot.pk}/")
    press(ida.page, "button", "Test connection")
    expect(ida.page.locator("#test-summary")).to_be_visible()
    ida.unfold()
    assert ida.grave_findings() == []
    assert ida.overflow_on_tour() <= 0
    if PICTURES:
        name = f"connect-{request.node.callspec.id.replace(' ', '-')}.png"
        ida.page.screenshot(path=Path(PICTURES) / name, full_page=True)
    ida.page.set_viewport_size(PHONE)
    assert ida.overflow() <= 0
    ida.page.context.close()
    assert ida.mishaps == []
