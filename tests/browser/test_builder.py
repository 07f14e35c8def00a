"""A builder's way through the admin in a real browser."""

from collections.abc import Iterator
from typing import Any

from django.contrib.auth.models import User
from playwright.sync_api import Browser, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import EndpointKey
from tests.browser.visits import LOOKS, Visit, visit, visiting
from tests.factories import make_copilot, make_key, make_published, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FORM = "/admin/copilot_admin/copilot/{}/change/"


@pytest.fixture
def server(base_url: str) -> str:
    make_user(Role.BUILDERS, username="ada")
    make_user(username="root", is_superuser=True)
    return base_url


@pytest.fixture
def ada(browser: Browser, server: str) -> Iterator[Visit]:
    """A builder who has logged in; nothing untoward may happen to her."""
    with visiting(browser, server, "ada") as person:
        yield person


def test_a_new_key_is_copied_with_a_button(browser: Browser, server: str) -> None:
    root = visit(browser, server, permissions=["clipboard-read", "clipboard-write"])
    root.log_in("root")
    page = root.page
    root.go("/admin/copilot_admin/endpointkey/add/")
    page.get_by_label("Name").fill("Desk")
    page.get_by_role("button", name="Make the key").click()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_focused()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.get_by_label("The new key").input_value()
    assert copied.startswith(EndpointKey.objects.get().shown)
    page.context.close()
    assert root.mishaps == []


# A page of the same kind is tried by day: made of the same templates, or tried by a test of its own.
LIKE_OTHERS = (
    *("settings of a copilot", "history", "provider in use", "new key"),
    *("revoking", "users", "new user", "groups", "password", "new copilot"),
)


def paths() -> dict[str, str]:
    """Every kind of page, with something on it."""
    copilot = make_published(
        custom_features=[
            {"key": "a", "label": "A", "type": "toggle", "default": True, "description": "Why"},
            {
                "key": "b",
                "label": "B",
                "type": "select",
                "options": [{"label": "x", "value": "y"}],
                "default": "y",
            },
            {"key": "c", "label": "C", "type": "text", "default": "", "placeholder": "e.g."},
        ],
        model_choices=[{"id": "demo", "name": "Demo"}],
        features={"widget-dashboard-select": True, "widget-global-search": True},
        starters=["What moved today?"],
        steps=[{"at": "start", "type": "INFO", "message": "Hi"}],
        parameters={"seed": 7},
    )
    changed = make_published()
    changed.system_prompt = "{{ nobody }}"
    changed.save()
    draft = make_copilot()
    key, _ = make_key(copilots=(copilot,))
    base = "/admin/copilot_admin"
    return {
        "start": "/admin/",
        "copilots": f"{base}/copilot/",
        "nothing found": f"{base}/copilot/?q=nothing+like+it",
        "copilot": FORM.format(copilot.pk),
        "settings of a copilot": f"{base}/copilot/{copilot.pk}/settings/",
        "copilot with problems": FORM.format(changed.pk),
        "new copilot": f"{base}/copilot/add/",
        "history": f"{base}/copilot/{copilot.pk}/history/",
        "export": f"{base}/copilot/export/",
        "import": f"{base}/copilot/import/",
        "deletion": f"{base}/copilot/archive/?id={draft.pk}",
        "publishing": f"{base}/copilot/publish/?id={changed.pk}&id={draft.pk}&id={copilot.pk}",
        "providers": f"{base}/provider/",
        "provider": f"{base}/provider/{copilot.provider_id}/change/",
        "provider in use": f"{base}/provider/{copilot.provider_id}/delete/",
        "keys": f"{base}/endpointkey/",
        "key": f"{base}/endpointkey/{key.pk}/change/",
        "new key": f"{base}/endpointkey/add/",
        "revoking": f"{base}/endpointkey/{key.pk}/revoke/",
        "users": "/admin/auth/user/",
        "user": f"/admin/auth/user/{User.objects.get(username='ada').pk}/change/",
        "new user": "/admin/auth/user/add/",
        "groups": "/admin/auth/group/",
        "password": "/admin/password_change/",
    }


@pytest.mark.parametrize(
    "has_like",
    [
        pytest.param(False, id="each kind"),
        pytest.param(True, id="like others", marks=pytest.mark.nightly),
    ],
)
@pytest.mark.parametrize("look", LOOKS)
def test_every_page_is_accessible_keeps_the_policy_and_fits(
    browser: Browser, server: str, look: dict[str, Any], has_like: bool
) -> None:
    pages = {name: path for name, path in paths().items() if (name in LIKE_OTHERS) == has_like}
    root = visit(browser, server, **look)
    root.log_in("root")
    found = {}
    for name, path in pages.items():
        root.go(path)
        grave, overflow = root.grave_findings(), root.overflow_on_tour()
        led_to = root.page.url.removeprefix(
            root.base_url
        )  # where a row is not found, to another page
        if grave or overflow > 0 or root.mishaps or led_to != path:
            found[name] = (grave, overflow, list(root.mishaps), led_to)
            root.mishaps.clear()
    assert root.runs_as_its_look(look)
    root.page.context.close()
    assert found == {}


def test_the_login_page_is_accessible(browser: Browser, server: str) -> None:
    stranger = visit(browser, server)
    stranger.go("/admin/login/")
    assert stranger.grave_findings() == []
    stranger.page.get_by_label("Username").fill("nobody")
    stranger.page.get_by_label("Password").fill("wrong")
    stranger.page.keyboard.press("Enter")
    expect(stranger.page.get_by_text("Please enter the correct username")).to_be_visible()
    assert stranger.grave_findings() == []
    stranger.page.context.close()
    assert stranger.mishaps == []
