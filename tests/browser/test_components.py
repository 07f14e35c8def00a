"""A builder finds a tool and tries it, in a real browser."""

from collections.abc import Iterator

from playwright.sync_api import Browser, expect
import pytest

from copilot_admin.config.roles import Role
from tests.browser.visits import Visit, visiting
from tests.factories import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def ada(browser: Browser, base_url: str) -> Iterator[Visit]:
    make_user(Role.BUILDERS, username="ada")
    with visiting(browser, base_url, "ada") as person:
        yield person


def test_a_tool_is_found_and_tried_with_the_keyboard_alone(ada: Visit):
    page = ada.page
    ada.go("/admin/")
    for name in ("Tools", "Calculator"):
        page.get_by_role("link", name=name, exact=True).focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
        assert ada.grave_findings() == []
    arguments = page.get_by_role("textbox", name="Arguments")
    arguments.fill('{"expression": "200 USD + 10%"}')
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    result = page.locator("#try-result")
    expect(result.locator("pre", has_text="220 USD").first).to_be_visible()
    assert ada.grave_findings() == []
    arguments.fill('{"expression": "1 /"}')
    page.get_by_role("button", name="Run").press("Enter")
    expect(result.locator("[data-field=arguments]")).to_be_visible()
