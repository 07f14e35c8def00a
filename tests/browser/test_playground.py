"""A builder tries a draft beside its form: without saving, with widgets, again and in other words."""

from typing import Any

from playwright.sync_api import Browser, FloatRect, Locator, Page, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.copilots.publishing import publish
from copilot_admin.models import Conversation, Copilot, SavedQuestion
from tests.browser.visits import Visit, visit
from tests.factories import make_copilot, make_provider, make_user
from tests.workspace.model_server import ModelServer, calls, says

WIDE = {"width": 1440, "height": 900}
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def copilot(transactional_db: None) -> Copilot:
    return make_copilot(
        name="Price Reader",
        provider=make_provider(name="Rehearsal"),
        widget_data="fetch",
        tools=["table"],
        custom_features=[{"key": "tone", "label": "Tone", "type": "toggle", "default": False}],
    )


@pytest.fixture
def builder(browser: Browser, base_url: str, copilot: Copilot) -> Visit:
    make_user(Role.BUILDERS, username="ada")
    person = visit(browser, base_url)
    person.log_in("ada")
    person.go(f"/admin/copilot_admin/copilot/{copilot.pk}/change/")
    return person


def answered(page: Page, times: int) -> None:
    """Waits until so many answers stand there as the server draws them."""
    expect(page.locator(".ca-play-facts")).to_have_count(times)


def place_of(shown: Locator) -> FloatRect:
    """Where it stands on the page."""
    box = shown.bounding_box()
    assert box is not None
    return box


def test_a_draft_is_tried_with_a_widget_before_anything_is_saved(builder: Visit) -> None:
    page = builder.page
    page.get_by_label("Description").first.fill("Typed and not saved")
    page.get_by_text("Simulated Workspace").click()
    page.get_by_label("Price table").select_option("primary")
    page.get_by_label("Question", exact=True).fill("Show a table of the prices, please.")
    page.keyboard.press("Enter")
    answered(page, 1)
    log = page.get_by_role("log")
    expect(log).to_contain_text("get_widget_data")
    expect(log.get_by_role("table").first).to_be_visible()
    page.get_by_text("Under the hood").click()
    expect(page.locator("[data-play-calls] summary").nth(1)).to_contain_text("The model was asked")

    page.get_by_role("button", name="Ask again").click()
    answered(page, 1)
    page.get_by_role("button", name="Edit this question").click()
    question = page.get_by_label("Question", exact=True)
    expect(question).to_have_value("Show a table of the prices, please.")
    question.fill("What can you do?")
    page.get_by_role("button", name="Ask", exact=True).click()
    answered(page, 1)
    expect(log.locator(".ca-play-question")).to_have_text(["What can you do?"])

    copilot = Copilot.objects.get()
    assert (copilot.description, copilot.live) == ("", None)
    assert list(Conversation.objects.of_callers()) == []
    page.get_by_role("button", name="New chat").click()
    expect(page.locator("[data-play-log]")).to_be_empty()
    assert builder.mishaps == []


def test_an_answer_has_citations_that_open_and_questions_to_ask_next(
    browser: Browser, base_url: str, copilot: Copilot, model: ModelServer
) -> None:
    copilot.provider = make_provider(kind="openai_compatible", base_url=model.url)
    copilot.features = {"prompt-suggestions": True, "widget-dashboard-select": True}
    copilot.save()
    next_questions = '["And last year?", "Why <b>so</b>?"]'
    model.plays(
        calls("get_widget_data", widgets=[{"widget": "w1"}]),
        says("The highest close was 106.\n\n" * 12),
        says(next_questions),
        says("It was a good year."),
        says("[]"),
    )
    make_user(Role.BUILDERS, username="ada")
    builder = visit(browser, base_url, viewport=WIDE)
    builder.log_in("ada")
    builder.go(f"/admin/copilot_admin/copilot/{copilot.pk}/change/")
    page = builder.page
    page.get_by_text("Simulated Workspace").click()
    page.get_by_label("Price table").select_option("primary")
    page.get_by_label("Question", exact=True).fill("What was the highest close?")
    page.keyboard.press("Enter")
    answered(page, 1)
    log = page.get_by_role("log")
    log.get_by_text("One source").click()
    expect(log.locator(".ca-citations").get_by_text("Playground / price_table")).to_be_visible()
    # One thing scrolls, the column, and the end of the answer is above the question box.
    assert log.evaluate("one => one.scrollHeight - one.clientHeight") == 0
    log.get_by_role("button", name="Why <b>so</b>?").click()
    answered(page, 2)
    expect(log.locator(".ca-play-question").last).to_have_text("Why <b>so</b>?")
    expect(log).to_contain_text("It was a good year.")
    composer = page.locator(".ca-play-composer")
    end, box = place_of(log), place_of(composer)
    assert end["y"] + end["height"] <= box["y"] + 1
    # With the page scrolled to its end the column stands above the buttons of the form, and nothing of it is cut.
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    builder.next_frames()
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_in_viewport(ratio=1)
    # At the top of the page the column reaches below the window; its end is reached all the same.
    page.evaluate("window.scrollTo(0, 0)")
    builder.next_frames()
    page.locator("[data-ca-drawer-room]").evaluate("room => room.scrollTo(0, room.scrollHeight)")
    builder.next_frames()
    end, box = place_of(log), place_of(composer)
    assert end["y"] + end["height"] <= box["y"] + 1
    assert box["y"] + box["height"] <= place_of(page.locator(".ca-sticky-row"))["y"] + 1
    assert builder.grave_findings(page.locator("[data-ca-drawer-room]")) == []
    assert builder.mishaps == []


@pytest.mark.nightly
def test_two_columns_answer_one_question_and_one_of_them_becomes_the_draft(
    browser: Browser, base_url: str, copilot: Copilot
) -> None:
    publish(copilot, user=None)
    make_user(Role.BUILDERS, username="ada")
    builder = visit(browser, base_url, viewport=WIDE)
    builder.log_in("ada")
    builder.go(f"/admin/copilot_admin/copilot/{copilot.pk}/change/")
    page = builder.page
    page.get_by_label("Description").first.fill("Typed\n<b>and not saved")
    page.get_by_role("button", name="Two columns").click()
    columns = page.locator("[data-play-column]")
    expect(columns).to_have_count(2)
    first, second = columns.nth(0), columns.nth(1)
    expect(second.get_by_label("Who answers")).to_have_value("live")
    page.get_by_label("Question", exact=True).fill("What can you do?")
    page.keyboard.press("Enter")
    answered(page, 2)
    expect(first.locator(".ca-play-facts")).to_contain_text("Draft · ")
    expect(second.locator(".ca-play-facts")).to_contain_text("Version 1 · ")
    assert place_of(first)["y"] == place_of(second)["y"]  # side by side
    assert page.get_by_role("log").evaluate_all("all => all.map((one) => one.ariaLive)") == [
        "off",
        "off",
    ]
    assert builder.grave_findings(page.locator("[data-ca-drawer-room]")) == []
    second.get_by_role("button", name="Thumbs up").click()
    expect(second.get_by_text("Thumbs up is kept.")).to_be_visible()

    second.get_by_label("Who answers").select_option("other")
    second.get_by_label("Model", exact=True).fill("another-model")
    page.get_by_role("button", name="Ask again").click()
    expect(second.locator(".ca-play-facts")).to_contain_text("another-model")
    second.get_by_role("button", name="Make this the draft").click()
    expect(page.locator("#id_model")).to_have_value("another-model")
    expect(page.get_by_role("button", name="Take it back")).to_be_focused()
    page.keyboard.press("Enter")
    expect(second.get_by_label("Who answers")).to_be_focused()
    expect(page.locator("#id_model")).to_have_value(copilot.model)

    second.get_by_label("Who answers").select_option("live")
    second.get_by_role("button", name="Make this the draft").click()
    expect(page.get_by_text("The form says what version 1 says.")).to_be_visible()
    expect(page.locator("#id_description")).to_have_value("")
    page.get_by_role("button", name="Back to what stood here before").click()
    expect(page.locator("#id_description")).to_have_value("Typed\n<b>and not saved")
    assert Copilot.objects.get().description == ""
    assert builder.mishaps == []


@pytest.mark.nightly
def test_rows_tools_and_skills_are_written_as_people_write_them(builder: Visit) -> None:
    page = builder.page
    page.get_by_text("Simulated Workspace").click()
    page.get_by_label("Rows of your own").fill('day\tclose\n"Mon, 5"\t1,234.5\nTue\t6')
    page.get_by_role("textbox", name="MCP tools").fill("get_quote: The price of a share")
    page.get_by_role("textbox", name="Skills").fill("house-style: How we write")
    page.get_by_label("Question", exact=True).fill("In house style: get quote, please")
    page.keyboard.press("Enter")
    page.get_by_label("What the skill says").fill("Be brief.")
    page.get_by_role("button", name="Answer", exact=True).click()
    page.get_by_label("What the tool answers").fill("It is 5.")
    page.get_by_role("button", name="Answer", exact=True).last.click()
    answered(page, 1)
    log = page.get_by_role("log")
    expect(log).to_contain_text("Own rows: 2 rows; the first: day Mon, 5, close 1234.5")
    expect(log).to_contain_text("The skill 'house-style' says how to do this: Be brief.")
    expect(log).to_contain_text("It is 5.")
    page.get_by_role("button", name="Save question").click()
    expect(page.get_by_role("link", name="The question is saved.")).to_be_visible()
    saved: Any = SavedQuestion.objects.get().body
    assert saved["widgets"][0]["rows"] == [
        {"day": "Mon, 5", "close": 1234.5},
        {"day": "Tue", "close": 6},
    ]
    assert saved["skills"] == [{"slug": "house-style", "description": "How we write"}]
    assert builder.mishaps == []


def test_a_question_is_saved_with_what_it_brings_then_asked_and_judged(builder: Visit) -> None:
    page = builder.page
    page.get_by_text("Simulated Workspace").click()
    page.get_by_label("Price table").select_option("primary")
    page.get_by_label("Annual report (PDF)").select_option("secondary")
    page.get_by_label("Question", exact=True).fill("Show a table of the prices, please.")
    page.keyboard.press("Enter")
    answered(page, 1)
    page.get_by_role("button", name="Save question").click()
    page.get_by_role("link", name="The question is saved.").click()
    page.get_by_label("What the answer shall be").select_option("number")
    page.get_by_label("Words, number, widget").fill("101.5")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("It has the number 101.5.")).to_be_visible()
    page.get_by_role("button", name="Ask the draft").first.click()
    expect(page.get_by_text("As expected")).to_be_visible()

    saved = SavedQuestion.objects.get()
    widgets: Any = saved.body["widgets"]
    assert [(one["id"], one.get("place", "primary")) for one in widgets] == [
        ("price_table", "primary"),
        ("annual_report", "secondary"),
    ]
    assert saved.body["options"] == {"tone": False}
    assert builder.mishaps == []
