"""The checklist before publishing, at a desk and on a phone: it is read, and leads to the field."""

from typing import Any

from playwright.sync_api import Browser, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Access, Copilot
from tests.browser.visits import LOOKS, Visit, visit
from tests.factories import make_copilot, make_provider, make_published, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def draft_with_findings() -> Copilot:
    """A published copilot whose draft has an error and warnings on several tabs."""
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


def publishing(visit: Visit, copilot: Copilot) -> None:
    visit.go(f"/admin/copilot_admin/copilot/publish/?id={copilot.pk}")


@pytest.mark.parametrize("look", LOOKS)
def test_the_checklist_is_read_and_leads_to_the_field(
    browser: Browser, base_url: str, look: dict[str, Any]
) -> None:
    make_user(Role.BUILDERS, username="ada")
    copilot = draft_with_findings()
    ada = visit(browser, base_url, **look)
    ada.log_in("ada")
    page = ada.page
    publishing(ada, copilot)
    assert ada.runs_as_its_look(look)
    expect(page.get_by_text("One thing must be mended")).to_be_visible()
    expect(page.get_by_role("button", name="Publish")).to_have_count(0)
    assert ada.grave_findings() == []
    assert ada.overflow_on_tour() <= 0
    for name, place in {
        "System prompt": "id_system_prompt",
        "Parameters": "id_top_p",
        "Controls of your own": "id_custom_features",
        "Starter questions": "id_starters",
        "Who may ask": "id_now-access",
    }.items():
        publishing(ada, copilot)
        page.get_by_role("link", name=f"Go to the field: {name}").click()
        expect(page.locator(f"#{place}:focus, #{place} :focus")).to_be_in_viewport()
    expect(page.get_by_text("Put }} behind “{{ today.”.")).to_be_visible()
    expect(page.get_by_text("4 things to look at before publishing")).to_be_visible()
    page.get_by_text("4 things to look at before publishing").click()
    assert ada.grave_findings() == []
    assert ada.overflow_on_tour() <= 0
    Copilot.objects.update(system_prompt="You are a careful analyst. Today is {{ today }}.")
    publishing(ada, copilot)
    expect(page.locator("ins", has_text="careful")).to_be_visible()
    assert ada.grave_findings() == []
    assert ada.overflow_on_tour() <= 0
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_text("is live: version 2")).to_be_visible()
    page.context.close()
    assert ada.mishaps == []


@pytest.mark.nightly
def test_providers_are_asked_for_their_models_beside_whoever_reads(
    browser: Browser, base_url: str
) -> None:
    make_user(Role.BUILDERS, username="ada")
    ada = visit(browser, base_url)
    ada.log_in("ada")
    publishing(ada, make_copilot(model="rehersal"))
    told = ada.page.get_by_text("does not list the model “rehersal”. Check how it is written.")
    expect(told).to_be_visible()
    dead = make_provider(kind="openai_compatible", base_url="http://127.0.0.1:9/v1")
    publishing(ada, make_copilot(provider=dead))
    again = ada.page.get_by_role("button", name="Ask the provider again")
    expect(again).to_be_visible()
    again.focus()
    ada.page.keyboard.press("Enter")
    expect(again).to_be_focused()
    expect(again).not_to_have_attribute("aria-disabled", "true")
    assert ada.grave_findings() == []
    assert ada.overflow_on_tour() <= 0
    ada.page.context.close()
    assert ada.mishaps == []
