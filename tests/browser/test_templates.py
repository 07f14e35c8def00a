"""A builder takes a template, in a real browser."""

from playwright.sync_api import Browser, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot
from tests.browser.visits import PHONE, visit
from tests.factories import make_provider, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.nightly
def test_a_template_becomes_a_draft_with_the_keyboard_alone(browser: Browser, base_url: str):
    make_user(Role.BUILDERS, username="ada")
    make_provider(name="Rehearsal")
    ada = visit(browser, base_url)
    ada.log_in("ada")
    page = ada.page
    ada.go("/admin/")
    page.get_by_role("link", name="Begin with a template").click()
    expect(page.get_by_role("heading", name="Charts")).to_be_visible()
    assert ada.grave_findings() == []
    page.get_by_role("link", name="Charts").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Slug")).to_have_value("charts")
    assert ada.grave_findings() == []
    page.get_by_label("Slug").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("is a draft now")).to_be_visible()
    assert Copilot.objects.get().name == "Charts"
    page.set_viewport_size(PHONE)
    ada.go("/admin/copilot_admin/copilot/templates/")
    assert ada.overflow() <= 0
    page.context.close()
    assert ada.mishaps == []
