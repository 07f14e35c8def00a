"""A builder makes a copilot on the Build page: from a provider's key to an answer."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot, Provider
from tests.browser.visits import LOOKS, Visit, visit, visiting
from tests.factories import make_copilot, make_provider, make_published, make_user
from tests.workspace.model_server import MODEL, ModelServer, says

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MAX_CLICKS = 12
ADD = "/admin/copilot_admin/copilot/add/"
FORM = "/admin/copilot_admin/copilot/{}/change/"


@pytest.fixture
def ada(browser: Browser, base_url: str) -> Iterator[Visit]:
    make_user(Role.BUILDERS, Role.OPERATORS, username="ada")
    with visiting(browser, base_url, "ada") as person:
        yield person


class Hand:
    """Clicks or presses keys, and counts what a person would count."""

    def __init__(self, page: Page, *, by_keyboard: bool) -> None:
        self.page, self.by_keyboard, self.clicks = page, by_keyboard, 0

    def use(self, selector: str) -> None:
        """Activate an element."""
        found = self.page.locator(selector).first
        self.clicks += 1
        if self.by_keyboard:
            found.focus()
            self.page.keyboard.press("Space" if "type=radio" in selector else "Enter")
        else:
            found.click(force="type=radio" in selector)  # the label covers it


@pytest.mark.parametrize("by_keyboard", [False, True], ids=["mouse", "keyboard"])
def test_from_a_fresh_start_to_an_answer_in_twelve_clicks_and_one_form(
    ada: Visit, model: ModelServer, by_keyboard: bool
) -> None:
    model.plays(says("ready"), says("Hello ", "from the desk."), says('["What else?"]'))
    page, hand = ada.page, Hand(ada.page, by_keyboard=by_keyboard)
    ada.go(ADD)
    page.fill("#id_name", "Rates Desk")
    page.fill("#id_system_prompt", "You are the assistant of the rates desk.")
    hand.use('[data-menu="model"] > summary')
    hand.use("[data-connect]")
    hand.use('#connect-drawer [type=radio][value="Other"]')
    expect(page.locator("#connect-base_url")).to_have_value("")
    page.fill("#connect-base_url", model.url)
    page.fill("#connect-api_key", "sk-loopback-0123456789")
    hand.use("#connect-button")
    hand.use(f'#connect-drawer [data-use-model="{MODEL}"]')
    expect(page.locator("[data-model-summary]")).to_contain_text(MODEL)
    expect(page.locator("#id_name")).to_have_value("Rates Desk")
    hand.use('.ca-bar button[name="_continue"]')
    expect(page.locator("[data-play-targets]")).not_to_be_empty()  # drawn by the script
    page.locator("[data-play-question]").fill("Who are you?")
    page.locator("[data-play-question]").press("Enter")
    expect(page.locator("[data-play-log]")).to_contain_text("Hello from the desk.")
    expect(page.locator("[data-play-facts]")).to_have_count(1)  # with the follow-up questions
    assert hand.clicks + 1 <= MAX_CLICKS
    copilot = Copilot.objects.select_related("provider").get()
    assert (copilot.name, copilot.model) == ("Rates Desk", MODEL)
    assert copilot.provider.base_url == model.url


def test_a_wrong_key_shows_the_words_of_the_provider_and_loses_nothing(
    ada: Visit, model: ModelServer
) -> None:
    model.refusal = "Incorrect API key provided"
    page = ada.page
    ada.go(ADD)
    page.fill("#id_name", "Rates Desk")
    page.locator('[data-menu="model"] > summary').click()
    page.locator("[data-connect]").click()
    page.locator('.ca-vendor:has([value="Other"])').click()
    expect(page.locator("#connect-base_url")).to_have_value("")
    page.fill("#connect-base_url", model.url)
    page.fill("#connect-api_key", "sk-wrong")
    page.locator("#connect-button").click()
    expect(page.locator('[data-check="failed"]')).to_contain_text("Incorrect API key provided")
    expect(page.locator("#connect-api_key")).to_have_value("sk-wrong")
    assert ada.grave_findings() == []
    assert not Provider.objects.exists()
    page.keyboard.press("Escape")
    expect(page.locator("#connect-drawer")).to_be_hidden()
    expect(page.locator("#id_name")).to_have_value("Rates Desk")


def test_edits_are_saved_after_a_pause_and_published_only_on_request(ada: Visit) -> None:
    copilot = make_published(system_prompt="Old")
    page = ada.page
    ada.go(FORM.format(copilot.pk))
    page.fill("#id_system_prompt", "Today is ")
    page.locator("#id_system_prompt").press("End")
    page.keyboard.type("{{")
    page.locator('[data-variable="today"]').press("Enter")
    expect(page.locator("#id_system_prompt")).to_have_value("Today is {{ today }}")
    expect(page.locator("[data-changes]")).to_have_attribute("data-changes", "1")
    copilot.refresh_from_db()
    assert copilot.system_prompt == "Today is {{ today }}"
    assert copilot.live is not None
    assert copilot.live.document["system_prompt"] == "Old"
    page.locator("#id_name").fill("")
    expect(page.locator("#saved-at.ca-bad")).to_be_visible()
    page.locator("#id_name").fill("Renamed")
    page.keyboard.press("Control+s")
    expect(page.locator('[data-message="success"], [data-message="info"]')).to_be_visible()
    page.locator("#publish").click()
    expect(page).to_have_url(f"{ada.base_url}/admin/copilot_admin/copilot/publish/?id={copilot.pk}")


def test_leaving_with_unsaved_edits_is_confirmed(ada: Visit) -> None:
    make_provider()
    page, asked = ada.page, []
    ada.go(ADD)

    def stay(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.fill("#id_name", "Half a thought")
    with page.expect_event("dialog"):
        page.locator(".ca-nav a").first.click(no_wait_after=True)
    expect(page.locator("#id_name")).to_have_value("Half a thought")
    assert asked == ["beforeunload"]


def test_rows_are_added_moved_and_removed_with_the_keyboard(ada: Visit) -> None:
    copilot = make_copilot(starters=["One?", "Two?", "Three?"])
    page = ada.page
    ada.go(FORM.format(copilot.pk))
    rows = page.locator('[data-ca-rows="starters"]')
    rows.locator("[data-ca-down]").first.press("Enter")
    rows.locator("[data-ca-remove]").nth(2).press("Enter")
    rows.locator("[data-ca-add]").press("Enter")
    page.keyboard.type("Four?")
    page.keyboard.press("Control+s")
    expect(page.locator("[data-message]")).to_be_visible()
    copilot.refresh_from_db()
    assert copilot.starters == ["Two?", "One?", "Four?"]


def test_a_new_row_shows_its_fields(ada: Visit) -> None:
    page = ada.page
    ada.go(FORM.format(make_copilot().pk))
    page.locator("details.ca-fold").evaluate_all(
        "all => all.forEach((one) => { one.open = true; })"
    )
    hidden = {}
    for rows in page.locator("[data-ca-rows]").all():
        rows.locator("[data-ca-add]").click()
        found = rows.locator(".ca-row-form :is(input, select, textarea)").evaluate_all(
            "all => all.filter((one) => !one.checkVisibility()).map((one) => one.name)"
        )
        names = {name.split("-")[-1] for name in found} - {"ORDER", "DELETE"}
        hidden[rows.get_attribute("data-ca-rows")] = names
    assert hidden.pop("custom_features") == {"default", "options", "placeholder"}  # of other types
    assert not any(hidden.values()), hidden


def test_a_chosen_picture_is_checked_shown_and_saved(ada: Visit) -> None:
    ada.go(FORM.format(make_copilot().pk))
    png = BytesIO()
    Image.new("RGB", (8, 8), "teal").save(png, format="PNG")
    upload = ada.page.locator("#id_upload")
    upload.set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": png.getvalue()})
    expect(ada.page.locator('[data-picture] img[src*="/image/"]')).to_be_visible()  # saved
    upload.set_input_files({"name": "a.gif", "mimeType": "image/gif", "buffer": b"GIF89a"})
    expect(ada.page.locator("[data-picture-error]")).to_be_visible()


@pytest.mark.parametrize("look", LOOKS)
def test_the_pages_are_accessible_and_fit(
    browser: Browser, base_url: str, look: dict[str, Any]
) -> None:
    make_user(username="root", is_superuser=True)
    copilot = make_published(starters=["One?"], parameters={"seed": 7})
    Copilot.objects.filter(pk=copilot.pk).update(system_prompt="{{ nobody }}")
    base = "/admin/copilot_admin"
    root = visit(browser, base_url, **look)
    root.log_in("root")
    found = {}
    for path in (
        FORM.format(copilot.pk),
        ADD,
        f"{base}/copilot/{copilot.pk}/settings/",
        f"{base}/copilot/{copilot.pk}/discard/",
        f"{base}/provider/add/",
        f"{base}/provider/{copilot.provider_id}/change/",
    ):
        root.go(path)
        root.page.evaluate(
            "document.querySelectorAll('details.ca-fold').forEach((d) => d.open = true)"
        )
        grave, overflow = root.grave_findings(), root.overflow()
        if grave or overflow > 0 or root.mishaps:
            found[path] = (grave, overflow, list(root.mishaps))
            root.mishaps.clear()
    root.page.context.close()
    assert found == {}
