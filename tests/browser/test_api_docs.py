"""The description of the API, in a real browser that enforces the policy of the pages."""

from playwright.sync_api import Page, expect
import pytest

from tests.browser.visits import Visit
from tests.factories import make_user

pytestmark = pytest.mark.browser


@pytest.mark.nightly
def test_the_api_is_described_and_nothing_breaks_the_policy(page: Page, base_url: str):
    make_user(username="ada", password="secret", is_superuser=True)
    visit = Visit(page, base_url)
    visit.log_in("ada")
    visit.go("/docs")
    query = page.locator("#operations-copilots-copilot_admin_api_query_query")
    query.get_by_role("button").first.click()
    expect(query.get_by_text("Try it out")).to_be_visible()
    assert visit.mishaps == []
