"""The shell by keyboard: Find, menus, filters and selected rows, on desktop and phone."""

from collections.abc import Iterator

from playwright.sync_api import Browser, expect
import pytest

from copilot_admin.config.roles import Role
from tests.browser.visits import Visit, visiting
from tests.factories import make_copilot, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def ada(browser: Browser, base_url: str) -> Iterator[Visit]:
    make_user(Role.BUILDERS, Role.OPERATORS, username="ada")
    make_copilot(name="Rates Desk")
    with visiting(browser, base_url, "ada") as person:
        yield person


def test_find_leads_to_a_copilot(ada: Visit):
    page = ada.page
    ada.go("/admin/settings/")
    page.keyboard.press("Control+k")
    page.keyboard.type("rates")
    expect(page.locator("#find-results a").first).to_contain_text("Rates Desk")
    assert ada.grave_findings() == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/copilot/*/change/")


def test_selected_rows_show_their_actions(ada: Visit):
    page = ada.page
    ada.go("/admin/copilot_admin/copilot/")
    bulk = page.locator(".ca-bulk")
    expect(bulk).to_be_hidden()
    page.locator("#action-toggle").press("Space")
    expect(bulk.locator("[data-ca-selected]")).to_contain_text("1")
    expect(bulk.get_by_role("button").first).to_be_visible()
    assert ada.grave_findings() == []


def test_a_phone_has_a_menu_button(ada: Visit):
    page = ada.page
    page.set_viewport_size({"width": 390, "height": 844})
    ada.go("/admin/settings/")
    expect(page.locator("#navigation")).to_be_hidden()
    page.locator(".ca-bar__menu").press("Enter")
    expect(page.locator("#navigation nav")).to_be_visible()
    assert ada.grave_findings() == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
