"""A builder's way through the admin in a real browser."""

from collections.abc import Iterator
from typing import Any

from django.contrib.auth.models import User
from playwright.sync_api import Browser, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot, EndpointKey
from protocol.features import FEATURES
from tests.browser.visits import LOOKS, Visit, visit, visiting
from tests.factories import make_copilot, make_key, make_provider, make_published, make_user

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


@pytest.mark.nightly
def test_a_copilot_is_made_previewed_and_published(ada: Visit) -> None:
    make_provider(name="Rehearsal")
    page, preview = ada.page, ada.page.locator("#preview")
    ada.go("/admin/")
    page.get_by_role("link", name="Begin with a template").click()
    page.get_by_role("link", name="Or begin with an empty one.").click()

    page.get_by_label("Name", exact=False).first.fill("News Reader")
    expect(page.get_by_label("Slug")).to_have_value("news-reader")
    page.get_by_label("Description").first.fill("Says what matters.")
    expect(preview).to_contain_text("News Reader")
    expect(preview).to_contain_text("Says what matters.")

    page.get_by_role("tabpanel", name="Basics").get_by_label("Provider").select_option(
        label="Rehearsal"
    )
    page.get_by_role("button", name="Load the provider").click()
    expect(page.get_by_text("1 model.", exact=True)).to_be_visible()
    page.locator("#id_model").fill("rehearsal")

    ada.tab("Features")
    page.get_by_label("Selected widgets").check()
    expect(preview).to_contain_text("@ Add context")
    page.get_by_role("button", name="Add a control").click()
    page.keyboard.type("Deep Research")
    expect(preview.get_by_text("Deep Research")).to_be_visible()
    ada.tab("Basics")
    chip = page.get_by_role("button", name="options.deep-research.state")
    page.get_by_label("System prompt").fill("Be brief. Research: ")
    chip.click()
    expect(page.get_by_label("System prompt")).to_have_value(
        "Be brief. Research: {{ options.deep-research.state }}"
    )

    page.get_by_role("button", name="Save and publish…").click()
    expect(page.get_by_role("heading", name="Publish News Reader?")).to_be_visible()
    assert Copilot.objects.get().live is None
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_text("Live: version 1,")).to_be_visible()

    copilot = Copilot.objects.get()
    assert copilot.live is not None
    assert copilot.live.document["features"] == {
        feature.key: feature.default or feature.key == "widget-dashboard-select"
        for feature in FEATURES
    }
    assert copilot.live.document["custom_features"] == [
        {"key": "deep-research", "label": "Deep Research", "type": "toggle", "default": False}
    ]
    ada.go("/admin/copilot_admin/copilot/")
    expect(page.get_by_text("Published", exact=True).last).to_be_visible()


@pytest.mark.nightly
def test_rows_are_added_moved_and_removed_with_the_keyboard_alone(ada: Visit) -> None:
    copilot = make_copilot(starters=["One?", "Two?", "Three?"])
    page = ada.page
    ada.go(FORM.format(copilot.pk))
    ada.tab("Steps and starters")
    rows = page.locator('[data-ca-rows="starters"]')

    rows.get_by_role("group", name="Question 3").get_by_role("button", name="Move up").focus()
    page.keyboard.press("Enter")
    expect(rows.get_by_role("status")).to_have_text("Now at position 2.")
    page.keyboard.press("Enter")
    expect(rows.get_by_role("status")).to_have_text("Now at position 1.")
    focused = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(focused) == "Move down"

    rows.get_by_role("group", name="Question 2").get_by_role("button", name="Remove").focus()
    page.keyboard.press("Enter")
    expect(rows.get_by_role("status")).to_have_text("Removed.")
    assert page.evaluate(focused) == "Remove"

    rows.get_by_role("button", name="Add a question").focus()
    page.keyboard.press("Enter")
    page.keyboard.type("Four?")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    copilot.refresh_from_db()
    assert copilot.starters == ["Three?", "Two?", "Four?"]


@pytest.mark.nightly
def test_only_the_fields_of_a_controls_kind_are_shown(ada: Visit) -> None:
    copilot = make_copilot()
    page = ada.page
    ada.go(FORM.format(copilot.pk))
    ada.tab("Features")
    page.get_by_role("button", name="Add a control").click()
    row = page.get_by_role("group", name="Control 1")
    expect(row.get_by_label("Text when on")).to_be_visible()
    expect(row.get_by_label("Choices")).to_be_hidden()
    row.get_by_label("Kind").select_option("select")
    expect(row.get_by_label("Text when on")).to_be_hidden()
    row.get_by_label("Label").fill("Tone")
    row.get_by_label("Choices").fill("Short = brief\nLong = brief")
    page.get_by_role("button", name="Save draft").click()
    expect(row.get_by_text("Two choices have the same value.")).to_be_visible()
    expect(row.get_by_label("Choices")).to_be_focused()
    row.get_by_label("Choices").fill("Short = brief\nLong")
    expect(page.locator("#preview select").last).to_contain_text("Short")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    copilot.refresh_from_db()
    assert copilot.custom_features == [
        {
            "key": "tone",
            "label": "Tone",
            "type": "select",
            "options": [{"label": "Short", "value": "brief"}, {"label": "Long", "value": "Long"}],
            "default": "brief",
        }
    ]


def test_leaving_with_unsaved_edits_is_asked_about(ada: Visit) -> None:
    page = ada.page
    ada.go(FORM.format(make_copilot().pk))
    asked: list[str] = []

    def stay(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.get_by_label("Description").first.fill("Half a thought")
    expect(page.get_by_text("Unsaved edits")).to_be_visible()
    with page.expect_event("dialog"):
        page.get_by_role("link", name="Start").first.click(no_wait_after=True)
    expect(page.get_by_label("Description").first).to_have_value("Half a thought")
    assert asked == ["beforeunload"]
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    page.get_by_role("link", name="Start").first.click()
    expect(page.get_by_role("heading", name="Start", exact=True)).to_be_visible()
    assert asked == ["beforeunload"]


@pytest.mark.nightly
def test_a_chosen_picture_is_previewed_before_it_is_saved(ada: Visit) -> None:
    ada.go(FORM.format(make_copilot().pk))
    pixel = bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
        "0000000d49444154789c626001000000ffff03000006000557bfabd40000000049454e44ae426082"
    )
    ada.page.get_by_label("Upload an image").set_input_files(
        {"name": "a.png", "mimeType": "image/png", "buffer": pixel}
    )
    expect(ada.page.locator('#preview img[src^="data:image/png"]')).to_be_visible()


@pytest.mark.nightly  # by day tests/admin/copilots/test_form.py fills the form as such a browser
def test_everything_works_without_javascript(browser: Browser, server: str) -> None:
    provider = make_provider(name="Rehearsal")
    ada = visit(browser, server, java_script_enabled=False)
    ada.log_in("ada")
    page = ada.page
    ada.go("/admin/copilot_admin/copilot/add/")
    page.locator("#id_name").fill("News")
    page.locator("#id_slug").fill("news")
    page.locator("#id_provider").select_option(str(provider.pk))
    page.locator("#id_model").fill("rehearsal")
    page.locator("[name=starters-0-text]").fill("What moved?")
    page.get_by_role("button", name="Save and publish…").click()
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_text("Live: version 1,")).to_be_visible()
    assert Copilot.objects.get().starters == ["What moved?"]
    page.context.close()


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
    *("steps of a copilot", "what acts at once", "history", "provider in use", "new key"),
    *("revoking", "users", "new user", "groups", "password", "new copilot"),
    "data of a copilot",
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
        model_choices=[{"id": "rehearsal", "name": "Rehearsal"}],
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
        "features of a copilot": FORM.format(copilot.pk) + "#features",
        "data of a copilot": FORM.format(copilot.pk) + "#data",
        "steps of a copilot": FORM.format(copilot.pk) + "#conversation",
        "what acts at once": f"{base}/copilot/{copilot.pk}/now/",
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


def test_a_preset_fills_in_the_form_of_a_provider(browser: Browser, server: str) -> None:
    root = visit(browser, server)
    root.log_in("root")
    root.go("/admin/copilot_admin/provider/add/")
    page = root.page
    page.get_by_label("Fill in").focus()
    page.keyboard.type("Perplexity")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Address", exact=True)).to_have_value("https://api.perplexity.ai")
    expect(page.get_by_label("Tool calling")).to_have_value("text")
    expect(page.get_by_label("Merge adjacent messages")).to_be_checked()
    expect(page.get_by_label("Streams answers")).to_be_checked()
    assert root.grave_findings() == []
    page.context.close()
    assert root.mishaps == []


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
