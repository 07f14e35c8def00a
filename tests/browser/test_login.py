"""Somebody logs in, with a real browser that enforces the policy of the pages."""

from playwright.sync_api import Page
import pytest

from tests.factories import make_user

pytestmark = pytest.mark.browser


def test_an_admin_logs_in_and_nothing_breaks_the_policy(page: Page, base_url: str):
    make_user(username="ada", password="open sesame", is_superuser=True)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))

    page.goto(f"{base_url}/admin/")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill("open sesame")
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{base_url}/admin/")

    assert page.get_by_role("heading", level=1).is_visible()
    assert complaints == []
