"""From a template to an answer of one's own copilot."""

from playwright.sync_api import Browser, Locator, expect
import pytest

from copilot_admin.config.roles import Role
from tests.browser.visits import visiting
from tests.factories import make_provider, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MAX_CLICKS = 6


def test_from_a_template_to_an_answer(browser: Browser, base_url: str) -> None:
    make_provider(name="Demo")
    make_user(Role.BUILDERS, username="ada")
    clicks = []

    def click(what: Locator) -> None:
        what.click()
        clicks.append(str(what))

    with visiting(browser, base_url, "ada") as ada:
        page = ada.page
        ada.go("/admin/")
        click(page.get_by_role("link", name="Copilots", exact=True).first)
        click(page.get_by_role("link", name="Templates", exact=True))
        click(page.get_by_role("button", name="Use template Morning Note"))
        page.wait_for_url("**/change/**")
        page.wait_for_load_state()
        click(page.locator("#playground-question"))
        page.keyboard.type("Write this morning's note.")
        page.keyboard.press("Enter")
        expect(page.locator("[data-play-facts]")).to_have_count(1)
    assert len(clicks) <= MAX_CLICKS
