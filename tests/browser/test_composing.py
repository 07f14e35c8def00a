"""Keys that put together a sign, as people write Chinese or Japanese, are none of the page."""

from django.urls import reverse
from playwright.sync_api import Browser, expect
import pytest

from copilot_admin.config.roles import Role
from tests.browser.visits import Visit, visiting
from tests.factories import make_copilot, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# No driver composes; whether the page made something of the key tells that nothing is lost.
TAKEN = """(key) => !document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", { key, isComposing: true, bubbles: true, cancelable: true }))"""


def taken(person: Visit) -> list[str]:
    """The keys which the page takes from what is composed where the focus is."""
    keys = ("Enter", "ArrowDown", "ArrowUp", "Escape", "Backspace", "j", "?")
    return [key for key in keys if person.page.evaluate(TAKEN, key)]


def test_nothing_is_chosen_or_sent_while_a_sign_is_composed(
    browser: Browser, base_url: str
) -> None:
    make_user(Role.BUILDERS, Role.OPERATORS, username="ada")
    make_copilot()
    with visiting(browser, base_url, "ada") as ada:
        ada.go(reverse("admin:copilot_admin_endpointkey_add"))
        found = ada.page.locator(".ca-picker-found > li")
        ada.page.locator(".ca-picker input").focus()
        expect(found).to_have_count(1)
        assert taken(ada) == []
        expect(found).to_have_count(1)  # nothing was chosen
        ada.go(reverse("admin:component_try", args=["calculator", "v1"]))
        ada.page.get_by_label("expression").focus()
        assert taken(ada) == []
