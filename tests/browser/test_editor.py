"""The page in which a copilot is edited: its tabs, its drawer, and the panel that acts at once."""

from collections.abc import Iterator

from django.contrib.sessions.models import Session
from playwright.sync_api import Browser, Page, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.copilots.slugs import slug_of
from copilot_admin.models import Copilot, EndpointKey
from tests.browser.visits import PHONE, Visit, visit, visiting
from tests.factories import make_copilot, make_provider, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FORM = "/admin/copilot_admin/copilot/{}/change/"
NAMES = (
    *("News Reader", "  Éclair -- Øresund & Straße 2 ", "İstanbul Işık", "x" * 59 + " y"),
    *("R&D 24", "ＦＵＬＬ ½"),
)


@pytest.fixture
def ada(browser: Browser, base_url: str) -> Iterator[Visit]:
    make_user(Role.BUILDERS, username="ada")
    with visiting(browser, base_url, "ada") as person:
        yield person


@pytest.mark.nightly
def test_the_tabs_are_walked_with_the_keyboard_and_kept_while_saving(ada: Visit) -> None:
    copilot = make_copilot()
    page = ada.page
    ada.go(FORM.format(copilot.pk))
    page.get_by_role("tab", name="Basics").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Features")).to_be_focused()
    expect(page.get_by_label("Selected widgets")).to_be_visible()
    expect(page.get_by_label("System prompt")).to_be_hidden()
    page.keyboard.press("End")
    expect(page.get_by_role("button", name="Add a question")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("System prompt")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    expect(page.get_by_role("tab", name="Steps and starters", selected=True)).to_be_visible()
    assert page.url.endswith("/change/#conversation")


def test_what_is_wrong_is_counted_on_its_tab_and_has_the_focus(ada: Visit) -> None:
    page = ada.page
    ada.go(FORM.format(make_copilot().pk))
    ada.tab("Basics")
    page.get_by_label("Temperature").fill("9")
    ada.tab("Steps and starters")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("tab", name="Basics 1 to mend", selected=True)).to_be_visible()
    expect(page.get_by_label("Temperature")).to_be_focused()
    row = page.locator(".ca-sticky-row").bounding_box()
    field = page.get_by_label("Temperature").bounding_box()
    assert row
    assert field
    assert field["y"] + field["height"] <= row["y"]


def test_an_expired_log_in_loses_nothing(ada: Visit) -> None:
    copilot = make_copilot()
    page = ada.page
    ada.go(FORM.format(copilot.pk))
    page.get_by_label("Description").first.fill("Half a thought")
    Session.objects.all().delete()
    page.get_by_role("button", name="Save draft").click()
    dialog = page.get_by_role("dialog", name="You were logged out")
    expect(dialog.get_by_label("Username")).to_have_value("ada")
    assert ada.grave_findings(dialog) == []
    dialog.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("Please enter the correct username")
    dialog.get_by_label("Password").fill("secret")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    copilot.refresh_from_db()
    assert copilot.description == "Half a thought"


def test_a_slug_is_written_while_a_name_is_typed(ada: Visit) -> None:
    page = ada.page
    make_provider()
    ada.go("/admin/copilot_admin/copilot/add/")
    name, slug = page.get_by_label("Name", exact=True), page.get_by_label("Slug")
    for typed in NAMES:
        name.fill(typed)
        assert typed and slug.input_value() == slug_of(typed)
    name.fill("市场简报")
    expect(slug).to_have_value("")  # made when it is saved
    slug.fill("news")
    name.fill("Other")
    expect(slug).to_have_value("news")


def kept(page: Page) -> None:
    """Waits until the browser has a copy of what was typed."""
    expect(page.locator("form[data-ca-kept]")).to_have_count(1)


def copies(page: Page) -> list[str]:
    found: list[str] = page.evaluate("Object.keys(localStorage)")
    return [name for name in found if name.startswith("copilot-admin-copy:")]


def test_what_a_closed_tab_held_is_offered_again(ada: Visit) -> None:
    copilot = make_copilot(starters=["One?"])
    page = ada.page
    ada.go(FORM.format(copilot.pk))
    expect(page.get_by_text("Edits that you never saved")).to_be_hidden()
    page.get_by_label("Description").first.fill("Half a thought")
    ada.tab("Steps and starters")
    page.get_by_role("button", name="Add a question").press("Enter")  # however the page moves
    expect(page.locator("input:focus, textarea:focus")).to_have_value("")  # the new row's
    page.keyboard.type("Two?")
    kept(page)
    page.on("dialog", lambda dialog: dialog.accept())
    ada.go("/admin/")
    ada.go(FORM.format(copilot.pk))
    expect(page.get_by_text("Edits that you never saved")).to_be_visible()
    assert ada.grave_findings(page.locator("[data-ca-copy]")) == []
    page.get_by_role("button", name="Bring them back").click()
    expect(page.get_by_label("Description").first).to_have_value("Half a thought")
    expect(page.get_by_text("Unsaved edits")).to_be_visible()
    assert Copilot.objects.get().description == ""
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    assert Copilot.objects.get().starters == ["One?", "Two?"]
    ada.go(FORM.format(copilot.pk))
    expect(page.get_by_label("Description").first).to_have_value("Half a thought")
    expect(page.get_by_text("Edits that you never saved")).to_be_hidden()
    assert copies(page) == []


def put(page: Page, text: str) -> None:
    """Has a script put a text into the prompt."""
    page.get_by_label("System prompt").evaluate(
        "(field, text) => { field.value = text; field.dispatchEvent(new Event('input', { bubbles: true })); }",
        text,
    )


@pytest.mark.nightly
def test_a_provider_is_tried_as_its_form_stands(browser: Browser, base_url: str) -> None:
    make_user(Role.OPERATORS, username="olga")
    olga = visit(browser, base_url)
    olga.log_in("olga")
    page = olga.page
    olga.go("/admin/copilot_admin/provider/add/")
    page.get_by_label("Kind").select_option("rehearsal")
    page.get_by_label("API key").fill("sk-typed")
    page.get_by_role("button", name="Test").click()
    expect(page.get_by_role("status").get_by_text("Working:")).to_be_visible()
    page.get_by_role("button", name="Fetch models").click()
    expect(page.locator("#provider-trial .ca-tags")).to_contain_text("rehearsal")
    expect(page.get_by_label("API key")).to_have_value("sk-typed")
    assert olga.grave_findings() == []
    page.context.close()
    assert olga.mishaps == []


@pytest.mark.nightly
def test_of_500_copilots_a_key_finds_its_own_by_typing(browser: Browser, base_url: str) -> None:
    make_user(Role.OPERATORS, username="olga")
    provider = make_provider()
    Copilot.objects.bulk_create(
        Copilot(name=f"Desk {number:03}", slug=f"desk-{number:03}", provider=provider, model="m")
        for number in range(500)
    )
    olga = visit(browser, base_url)
    olga.log_in("olga")
    page = olga.page
    olga.go("/admin/copilot_admin/endpointkey/add/")
    page.get_by_label("Name").fill("Desk")
    copilots = page.get_by_role("combobox", name="Copilots")
    copilots.fill("DESK 4")
    expect(page.get_by_role("option")).to_have_count(20)
    expect(page.get_by_text("There are more: go on typing.")).to_be_visible()
    assert olga.grave_findings() == []
    copilots.press_sequentially("12")
    page.keyboard.press("Enter")
    copilots.fill("desk 007")
    page.get_by_role("option", name="Desk 007").click()
    page.get_by_role("button", name="Remove Desk 412").click()
    copilots.fill("nothing like it")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()
    page.keyboard.press("Escape")
    page.set_viewport_size(PHONE)
    assert olga.overflow() <= 0
    page.get_by_role("button", name="Make the key").click()
    expect(page.get_by_label("The new key")).to_be_visible()
    assert [one.name for one in EndpointKey.objects.get().copilots.all()] == ["Desk 007"]

    eve = visit(browser, base_url)
    make_user(Role.REVIEWERS, username="eve")
    eve.log_in("eve")
    eve.go("/admin/copilot_admin/conversation/")
    eve.page.get_by_text("Filters", exact=True).click()
    eve.page.get_by_label("Copilot", exact=True).fill("desk 007")
    eve.page.keyboard.press("Enter")
    expect(eve.page.get_by_text("Copilot: Desk 007")).to_be_visible()
    eve.page.context.close()
    page.context.close()
    assert (olga.mishaps, eve.mishaps) == ([], [])
