"""A builder takes a copilot along as a file, brings it back changed, and puts it away."""

from playwright.sync_api import Browser, FilePayload, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot
from tests.browser.visits import PHONE, visit
from tests.factories import make_published, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.nightly  # by day tests/admin/copilots/test_imports.py goes this way
def test_a_copilot_goes_out_comes_back_changed_and_is_put_away(
    browser: Browser, base_url: str
) -> None:
    copilot = make_published(name="News", slug="news", description="Old words. " * 60)
    make_user(Role.BUILDERS, username="ada")
    ada = visit(browser, base_url)
    ada.log_in("ada")
    page = ada.page
    ada.go("/admin/")
    page.get_by_role("button", name="Show all of it").press("Enter")
    expect(page.get_by_role("button", name="Show less")).to_have_attribute("aria-expanded", "true")

    ada.go(f"/admin/copilot_admin/copilot/{copilot.pk}/change/")
    page.get_by_text("Tags", exact=True).click()
    page.get_by_label("Tags, with commas between them").fill("Macro, rates desk")
    page.get_by_role("button", name="Save tags").click()
    expect(page.get_by_role("link", name="rates desk")).to_be_visible()

    ada.go("/admin/copilot_admin/copilot/export/")
    assert ada.grave_findings() == []
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    text = download.value.path().read_text().replace("Old words.", "New words.", 1)

    ada.go("/admin/copilot_admin/copilot/import/")
    assert ada.grave_findings() == []
    file = FilePayload(name="news.yaml", mimeType="text/plain", buffer=text.encode())
    page.get_by_label("Copilot files").set_input_files([file])
    page.get_by_role("button", name="See what would change").click()
    expect(page.locator("ins", has_text="New")).to_be_visible()
    assert ada.grave_findings() == []
    page.set_viewport_size(PHONE)
    assert ada.overflow() <= 0
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("link", name="copilot news").click()
    expect(page.get_by_label("Description").first).to_have_value("New words. " + "Old words. " * 59)

    page.get_by_role("link", name="Archive…").click()
    page.get_by_role("button", name="Put into the archive").click()
    page.get_by_role("link", name="Show the archive").first.click()
    page.get_by_role("link", name="News").click()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("is back, switched off")).to_be_visible()
    assert not Copilot.objects.get().enabled
    page.context.close()
    assert ada.mishaps == []
