"""A builder exports a copilot, imports it changed, archives it and restores it."""

from playwright.sync_api import Browser, FilePayload, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot
from tests.browser.visits import visiting
from tests.factories import make_published, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
BASE = "/admin/copilot_admin/copilot/"


@pytest.mark.nightly  # by day tests/admin/copilots/test_imports.py goes this way
def test_a_copilot_is_exported_imported_archived_and_restored(
    browser: Browser, base_url: str
) -> None:
    copilot = make_published(name="News", slug="news", description="Old words.")
    make_user(Role.BUILDERS, username="ada")
    with visiting(browser, base_url, "ada") as ada:
        page = ada.page
        ada.go(f"{BASE}export/?id={copilot.pk}")
        with page.expect_download() as download:
            page.locator("#export-form .ca-btn--primary").press("Enter")
        text = download.value.path().read_text().replace("Old words.", "New words.", 1)

        ada.go(f"{BASE}import/")
        file = FilePayload(name="news.yaml", mimeType="text/plain", buffer=text.encode())
        page.locator("#import-form input[type=file]").set_input_files([file])
        page.locator("#import-form .ca-btn--primary").press("Enter")
        expect(page.locator("[data-imports=yes]")).to_be_visible()
        expect(page.locator("ins", has_text="New")).to_be_visible()
        assert ada.grave_findings() == []
        assert ada.overflow_on_tour() <= 0
        page.locator("#import-form .ca-btn--primary").press("Enter")
        expect(page.locator("#import-form")).to_have_count(0)
        copilot.refresh_from_db()
        assert copilot.description == "New words."

        ada.go(f"{BASE}archive/?id={copilot.pk}")
        page.locator("#archive-form .ca-btn--primary").press("Enter")
        expect(page.locator("[data-message=success]")).to_be_visible()
        ada.go(f"{BASE}{copilot.pk}/change/")
        page.locator("#back-form button").press("Enter")
        expect(page.locator("[data-message=success]")).to_be_visible()
        assert ada.grave_findings() == []
    assert not Copilot.objects.get().enabled
