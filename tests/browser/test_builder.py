"""Every kind of page: accessible, within the policy, and no wider than a phone."""

from typing import Any

from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, expect
import pytest

from copilot_admin.admin.site.site import site
from copilot_admin.config.roles import Role
from copilot_admin.models import EndpointKey
from tests.browser.visits import LOOKS, visit
from tests.factories import make_copilot, make_key, make_published, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def server(base_url: str) -> str:
    make_user(Role.BUILDERS, username="ada")
    make_user(username="root", is_superuser=True)
    return base_url


def test_a_new_key_is_copied_with_a_button(browser: Browser, server: str) -> None:
    root = visit(browser, server, permissions=["clipboard-read", "clipboard-write"])
    root.log_in("root")
    page = root.page
    root.go("/admin/copilot_admin/endpointkey/add/")
    page.get_by_label("Name").fill("Desk")
    page.get_by_role("button", name="Create key").click()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_focused()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.get_by_label("API key").input_value()
    assert copied.startswith(EndpointKey.objects.get().shown)
    page.context.close()
    assert root.mishaps == []


def test_copilots_of_a_key_are_found_by_typing(browser: Browser, server: str) -> None:
    make_copilot(name="Rates Desk")
    make_copilot(name="Credit Desk")
    root = visit(browser, server)
    root.log_in("root")
    page = root.page
    root.go("/admin/copilot_admin/endpointkey/add/")
    page.get_by_label("Name").fill("Desk")
    page.get_by_role("combobox").fill("desk")
    chosen, other = page.get_by_role("option").all()
    colors = [
        one.evaluate("one => getComputedStyle(one).backgroundColor") for one in (chosen, other)
    ]
    assert colors[0] != colors[1]  # the one that Enter takes
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Remove Rates Desk")).to_be_visible()
    page.get_by_role("button", name="Create key").click()
    expect(page.get_by_role("button", name="Copy")).to_be_visible()
    assert [one.name for one in EndpointKey.objects.get().copilots.all()] == ["Rates Desk"]
    page.context.close()
    assert root.mishaps == []


def test_choices_of_an_export_do_not_overlap(browser: Browser, server: str) -> None:
    make_copilot()
    root = visit(browser, server)
    root.log_in("root")
    root.go("/admin/copilot_admin/copilot/export/")
    hidden = root.page.locator("#export-form label").evaluate_all(
        "all => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)"
    )
    assert hidden == []
    root.page.context.close()


# Made of the same templates as other pages, or covered by a test of their own.
LIKE_OTHERS = ("group/", "history/", "/delete/", "/revoke/", "user/add/", "/password_change/")


def make_paths() -> list[str]:
    """Make something for every kind of page, and return their paths."""
    copilot = make_published(starters=["What moved today?"], parameters={"seed": 7})
    changed = make_published()
    changed.system_prompt = "{{ nobody }}"
    changed.save()
    draft = make_copilot()
    key, _ = make_key(copilots=(copilot,))
    lists = [
        reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        for model in site._registry
    ]
    pages = ("index", "settings", "analytics", "limits", "privacy", "jobs")
    base = "/admin/copilot_admin"
    return [
        *sorted(set(lists)),
        *(reverse(f"admin:{name}") for name in pages),
        f"{base}/copilot/?q=nothing+like+it",
        f"{base}/copilot/templates/",
        f"{base}/copilot/{copilot.pk}/history/",
        f"{base}/copilot/{copilot.pk}/versions/",
        reverse("admin:copilot_admin_copilot_compare", args=[changed.pk]),
        f"{base}/copilot/export/",
        f"{base}/copilot/import/",
        f"{base}/copilot/archive/?id={draft.pk}",
        f"{base}/copilot/publish/?id={changed.pk}&id={draft.pk}&id={copilot.pk}",
        f"{base}/provider/{copilot.provider_id}/delete/",
        f"{base}/endpointkey/{key.pk}/change/",
        f"{base}/endpointkey/{key.pk}/revoke/",
        reverse("connect:page", args=[copilot.pk]),
        f"{base}/alertrule/add/",
        f"{base}/modelprice/add/",
        f"/admin/auth/user/{User.objects.get(username='ada').pk}/change/",
        "/admin/auth/user/add/",
        "/admin/password_change/",
        "/admin/two-factor/",
    ]


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
    root = visit(browser, server, **look)
    paths = [path for path in make_paths() if path.endswith(LIKE_OTHERS) == has_like]
    root.log_in("root")
    found = {}
    for path in paths:
        root.go(path)
        grave, overflow = root.grave_findings(), root.overflow_on_tour()
        shown = root.page.url.removeprefix(root.base_url)  # another one after a redirect
        # A form in a form is none, and a help text without its id is not read.
        dead = root.page.locator("[form], [aria-describedby]").evaluate_all(
            """all => all.filter((one) =>
                (one.hasAttribute("form") && !one.form) ||
                (one.getAttribute("aria-describedby") ?? "").split(" ").some(
                    (id) => id && !document.getElementById(id))
            ).map((one) => one.outerHTML)"""
        )
        if grave or overflow > 0 or root.mishaps or dead or shown != path:
            found[path] = (grave, overflow, list(root.mishaps), dead, shown)
            root.mishaps.clear()
    root.page.context.close()
    assert found == {}
