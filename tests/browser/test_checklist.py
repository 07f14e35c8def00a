"""The checklist before publishing: it can be read, and leads to each field."""

from typing import Any

from playwright.sync_api import Browser, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Access, Copilot
from tests.browser.visits import LOOKS, Visit, visiting
from tests.factories import make_published, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ANCHORS = ("system_prompt", "top_p", "custom_features", "starters", "now-access")


def draft_with_findings() -> Copilot:
    """Return a published copilot whose draft has an error and several warnings."""
    copilot = make_published(
        name="Prices",
        description="Reads prices.",
        system_prompt="You are a helpful analyst. Today is {{ today }}.",
        widget_data="off",
    )
    copilot.system_prompt = "You are a careful analyst. Today is {{ today."
    copilot.access = Access.KEY
    copilot.parameters = {"temperature": 1, "top_p": 1}
    copilot.starters = ["What moved?", "What moved?"]
    copilot.custom_features = [{"key": "tone", "label": "Tone", "type": "text", "default": ""}]
    copilot.save()
    return copilot


def open_publish_page(person: Visit, copilot: Copilot) -> None:
    person.go(f"/admin/copilot_admin/copilot/publish/?id={copilot.pk}")


@pytest.mark.parametrize("look", LOOKS)
def test_the_checklist_is_read_and_leads_to_the_field(
    browser: Browser, base_url: str, look: dict[str, Any]
) -> None:
    make_user(Role.BUILDERS, username="ada")
    copilot = draft_with_findings()
    with visiting(browser, base_url, "ada", **look) as ada:
        page = ada.page
        publish = page.locator("#publish-form .ca-btn--primary")
        open_publish_page(ada, copilot)
        expect(page.locator("[data-checklist=errors] li")).to_have_count(1)
        expect(page.locator("[data-checklist=warnings] li")).to_have_count(4)
        expect(publish).to_have_count(0)
        assert ada.grave_findings() == []
        assert ada.overflow_on_tour() <= 0
        for anchor in ANCHORS:
            open_publish_page(ada, copilot)
            page.locator(f'[data-checklist] a[href$="#id_{anchor}"]').press("Enter")
            expect(page.locator(f"#id_{anchor}")).to_be_in_viewport()
        Copilot.objects.update(system_prompt="You are a careful analyst. Today is {{ today }}.")
        open_publish_page(ada, copilot)
        expect(page.locator("ins", has_text="careful")).to_be_visible()
        publish.click()
        expect(page.locator("[data-message=success]")).to_be_visible()
    copilot.refresh_from_db()
    assert copilot.live is not None
    assert copilot.live.number == 2
