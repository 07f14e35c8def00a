"""Sign-in in a real browser that enforces the policy of the pages: password, codes, passkeys."""

import re
from typing import Any

from django.contrib.auth.models import Group, User
from playwright.sync_api import Browser, Page, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import RoleSecurity
from tests.admin.sign_in.conftest import make_code
from tests.browser.visits import Visit, visit
from tests.factories import make_user

HOME = re.compile(r"/admin/$")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # in the provider's threads
]


@pytest.fixture
def ada(db: None) -> User:
    return make_user(Role.BUILDERS, username="ada", password="open sesame")


@pytest.fixture
def person(browser: Browser, base_url: str) -> Any:
    # Passkeys need a host name.
    visitor = visit(browser, base_url.replace("127.0.0.1", "localhost"))
    yield visitor
    visitor.page.context.close()
    assert visitor.mishaps == []


def enter_password(person: Visit) -> None:
    person.go("/admin/")
    assert person.grave_findings() == []
    person.page.get_by_label("Username").fill("ada")
    person.page.get_by_label("Password").fill("open sesame")
    person.page.keyboard.press("Enter")


def enter_code(page: Page, secret: str) -> None:
    page.get_by_role("textbox").fill(make_code(secret))
    page.keyboard.press("Enter")


def sign_out(page: Page) -> None:
    page.get_by_label("Account").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="You are signed out")).to_be_visible()


def test_a_required_app_is_set_up_and_then_asked_for(person: Visit, ada: User):
    group = Group.objects.get(name=Role.BUILDERS)
    RoleSecurity.objects.create(group=group, requires_second_factor=True)
    page = person.page
    enter_password(person)
    expect(page.get_by_role("status").first).to_contain_text("requires")
    assert person.grave_findings() == []
    page.get_by_role("link", name="Set up authenticator app").click()
    expect(page.get_by_role("img", name="QR code")).to_be_visible()
    assert page.get_by_role("img", name="QR code").evaluate("image => image.naturalWidth") > 0
    assert person.grave_findings() == []
    secret = page.locator("[data-secret]").inner_text()
    enter_code(page, secret)
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    assert len(page.locator("pre").inner_text().split()) == 10
    page.get_by_role("link", name="Continue").click()
    expect(page).to_have_url(HOME)

    sign_out(page)
    enter_password(person)
    expect(page.get_by_role("heading", name="Two-factor authentication")).to_be_visible()
    assert person.grave_findings() == []
    enter_code(page, secret)
    expect(page).to_have_url(HOME)


def test_a_passkey_is_added_and_then_asked_for(person: Visit, ada: User):
    page = person.page
    devices = page.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    enter_password(person)
    expect(page).to_have_url(HOME)
    person.go("/admin/two-factor/keys/add/")
    assert person.grave_findings() == []
    page.get_by_label("Name").fill("Laptop")
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()

    sign_out(page)
    enter_password(person)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page).to_have_url(HOME)
