"""A builder without a mouse: nothing is out of reach, and the focus isn't lost."""

from collections.abc import Iterator

from playwright.sync_api import Browser, Locator, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot
from tests.browser.visits import PHONE, Visit, visiting
from tests.factories import make_provider, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MAX_STEPS = 150  # from one element to another
HAS_FOCUS = "(one) => one.isConnected ? one === document.activeElement : null"  # or drawn anew
# Links around whose focus no line is seen: it runs around a box of no size, or stands outside what cuts it.


class Keys:
    """A person without a mouse."""

    def __init__(self, visit: Visit) -> None:
        self.page = visit.page

    def to(self, what: Locator, *, key: str = "Tab") -> None:
        """Press a key until something has the focus."""
        expect(what).to_be_visible()
        one = what.element_handle()  # to look for it again at each step takes longer than the step
        for _step in range(MAX_STEPS):
            has_focus = one.evaluate(HAS_FOCUS)
            if has_focus:
                return
            if has_focus is None:
                one = what.element_handle()
            else:
                self.page.keyboard.press(key)
        raise AssertionError(f"The keyboard does not lead to {what}.")

    def press(self, what: Locator, *, key: str = "Tab") -> None:
        """Go to a button or a link and press it."""
        self.to(what, key=key)
        self.page.keyboard.press("Enter")


@pytest.fixture
def ada(browser: Browser, base_url: str, width: int) -> Iterator[Visit]:
    make_provider(name="Demo")
    make_user(Role.BUILDERS, Role.OPERATORS, username="ada")
    size = PHONE if width == PHONE["width"] else {"width": width, "height": 900}
    with visiting(browser, base_url, "ada", viewport=size) as person:
        yield person


@pytest.mark.parametrize("width", [1440, pytest.param(PHONE["width"], marks=pytest.mark.nightly)])
def test_from_a_template_to_a_published_copilot_with_tab_and_enter(ada: Visit) -> None:
    page, keys = ada.page, Keys(ada)
    ada.go("/admin/")
    keys.press(page.locator('a[href$="/copilot/templates/"]:visible').first)
    keys.press(page.get_by_role("button", name="Use template Morning Note"))
    expect(page.locator("[data-play-targets]")).not_to_be_empty()  # drawn by the script
    keys.to(page.locator("#playground-question"), key="Shift+Tab")
    page.keyboard.type("What can you do?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-play-facts]")).to_have_count(1)
    expect(page.locator("#playground-question")).to_be_focused()
    keys.press(page.locator("#publish"))
    keys.press(page.locator("#publish-form .ca-btn--primary"))
    keys.press(page.locator('[data-message=success] a[href^="/admin/connect/"]'))
    keys.press(page.locator("#key-form button"))
    expect(page.locator("#new-key")).not_to_have_value("")
    assert Copilot.objects.get().live is not None
