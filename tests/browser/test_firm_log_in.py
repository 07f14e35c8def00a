"""Somebody logs in with the firm's account, also in the middle of a form, and out again."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect
import pytest

from copilot_admin.admin.logins import discovery
from copilot_admin.models import Copilot
from tests.admin.logins.provider import Provider, running_provider
from tests.factories import make_copilot, make_user

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # in the provider's threads
]


def at_the_provider(page: Page) -> None:
    page.get_by_role("textbox").first.fill("ann")
    page.locator("button[type=submit], input[type=submit]").first.click()


@pytest.mark.nightly  # by day tests/admin/logins/test_oidc.py goes the way in and out
def test_the_way_in_on_the_spot_and_out(page: Page, base_url: str, settings: Any, tmp_path: Path):
    complaints: list[str] = []
    heard: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: heard.append(message.text))
    copilot = make_copilot(name="Before")
    form = f"{base_url}/admin/copilot_admin/copilot/{copilot.pk}/change/"
    with running_provider() as provider:
        settings.SSO = provider.log_in(label="Example Bank")
        provider.knows("ann", preferred_username="ann", name="Ann Lee", groups=["analysts"])

        page.goto(form)
        page.get_by_role("link", name="Log in with Example Bank").click()
        at_the_provider(page)
        page.wait_for_url(form)

        page.get_by_label("Name", exact=True).fill("Kept words")
        page.context.clear_cookies()
        page.get_by_role("button", name="Save draft").first.click()
        dialog = page.get_by_role("dialog", name="You were logged out")
        expect(dialog).to_be_visible()
        with page.context.expect_page() as opened:
            dialog.get_by_role("link", name="Log in with Example Bank").click()
        at_the_provider(opened.value)
        expect(page.get_by_text("Draft saved.").first).to_be_visible()
        assert Copilot.objects.get().name == "Kept words"

        page.locator("#user-tools summary").first.click()
        page.get_by_role("button", name="Log out").click()
        page.wait_for_url(f"{provider.url}/oauth2/end_session?**")
        assert (complaints, [one for one in heard if "Content Security" in one]) == ([], [])


@pytest.mark.nightly
def test_a_firm_that_does_not_answer_is_told_and_a_password_still_leads_in(
    page: Page, base_url: str, settings: Any
):
    discovery.forget()
    settings.SSO = Provider("http://127.0.0.1:9").log_in(label="Example Bank")
    make_user(username="root", is_superuser=True)
    page.context.clear_cookies()
    page.goto(f"{base_url}/admin/")
    page.get_by_role("link", name="Log in with Example Bank").click()
    expect(page.get_by_text("does not answer. Try again in a minute.")).to_be_visible()
    page.get_by_role("link", name="Use a password").click()
    page.get_by_label("Username").fill("root")
    page.locator("#id_password").fill("secret")
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("#user-tools")).to_be_visible()
    discovery.forget()
