"""A builder tests a draft next to its form: with test data, again, in other words, side by side."""

from typing import Any

from playwright.sync_api import Browser, FloatRect, Locator, Page, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.copilots.publishing import publish
from copilot_admin.models import Conversation, Copilot, TestCase
from tests.browser.visits import Visit, visit
from tests.factories import make_copilot, make_provider, make_user
from tests.workspace.model_server import ModelServer, calls, says

WIDE = {"width": 1440, "height": 900}
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def copilot(transactional_db: None) -> Copilot:
    return make_copilot(
        name="Price Reader",
        provider=make_provider(name="Demo"),
        widget_data="fetch",
        tools=["table", "chart"],
        custom_features=[{"key": "tone", "label": "Tone", "type": "toggle", "default": False}],
    )


def open_page(browser: Browser, base_url: str, copilot: Copilot, **options: Any) -> Visit:
    make_user(Role.BUILDERS, username="ada")
    person = visit(browser, base_url, viewport=WIDE, **options)
    person.log_in("ada")
    person.go(f"/admin/copilot_admin/copilot/{copilot.pk}/change/")
    return person


@pytest.fixture
def builder(browser: Browser, base_url: str, copilot: Copilot) -> Visit:
    return open_page(browser, base_url, copilot)


def question_box(page: Page) -> Locator:
    return page.locator("[data-play-question]")


def ask(page: Page, question: str, *, answers: int) -> None:
    """Ask and wait until so many answers are drawn by the server."""
    expect(page.locator("[data-play-targets]")).not_to_be_empty()  # drawn by the script
    question_box(page).fill(question)
    question_box(page).press("Enter")
    answered(page, answers)


def answered(page: Page, times: int) -> None:
    expect(page.locator("[data-play-facts]")).to_have_count(times)


def attach(page: Page, widget: str) -> None:
    page.get_by_label("Add test data").first.click()
    page.locator("[data-play-attach]").get_by_text(widget).click()


def open_drawer(page: Page, name: str) -> Locator:
    page.locator(f".ca-pane__head [data-play-open={name}]").click()
    return page.locator(f"[data-play-drawer={name}]")


def box_of(shown: Locator) -> FloatRect:
    box = shown.bounding_box()
    assert box is not None
    return box


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_draft_is_tested_before_it_is_saved_and_its_charts_have_colours(
    browser: Browser, base_url: str, copilot: Copilot, scheme: str
) -> None:
    builder = open_page(browser, base_url, copilot, color_scheme=scheme)
    page = builder.page
    attach(page, "Price table")
    ask(page, "Show a chart of the prices, please.", answers=1)
    answer = page.locator(".ca-turn .ca-msg").last
    expect(answer).to_contain_text("get_widget_data")
    shapes = answer.locator(".ca-chart__bar, .ca-chart__line").evaluate_all(
        "all => all.map((one) => ['fill', 'stroke'].map((name) => getComputedStyle(one)[name]))"
    )
    assert shapes
    assert all({fill, stroke} - {"none", "rgb(0, 0, 0)"} for fill, stroke in shapes)
    expect(answer.locator(".ca-legend li").first).to_be_visible()
    debug = open_drawer(page, "debug")
    expect(debug.locator("pre").first).to_be_visible()  # the system prompt
    assert builder.grave_findings(debug) == []
    page.keyboard.press("Escape")
    page.locator("[data-play-retry]").click()
    answered(page, 1)
    assert builder.grave_findings(page.locator("#playground")) == []
    assert Copilot.objects.get().live is None
    assert list(Conversation.objects.of_callers()) == []
    assert builder.mishaps == []


def test_a_question_is_asked_in_other_words_and_a_new_chat_is_empty(builder: Visit) -> None:
    page = builder.page
    ask(page, "What can you do?", answers=1)
    ask(page, "Anything else?", answers=2)
    page.get_by_label("Edit question").first.click()
    expect(question_box(page)).to_have_value("What can you do?")
    expect(page.locator(".ca-turn")).to_have_count(0)
    ask(page, "What can you read?", answers=1)
    page.locator("[data-play-new]").click()
    expect(page.locator(".ca-turn")).to_have_count(0)
    expect(question_box(page)).to_be_focused()
    assert builder.mishaps == []


ENTER = {"key": "Enter", "bubbles": True, "cancelable": True}


@pytest.mark.parametrize(
    "events",
    [
        [("keydown", {**ENTER, "isComposing": True}), ("compositionend", {}), ("keyup", ENTER)],
        [("compositionend", {}), ("keydown", {**ENTER, "keyCode": 229}), ("keyup", ENTER)],
    ],
    ids=["Chromium, Firefox", "Safari"],
)
def test_the_enter_that_ends_a_composition_does_not_send(builder: Visit, events: Any) -> None:
    page = builder.page
    question_box(page).fill("今日の金利")
    question_box(page).evaluate(
        """(box, events) => {
            for (const [name, options] of events) {
                const kind = name.startsWith("key") ? KeyboardEvent : CompositionEvent;
                box.dispatchEvent(new kind(name, options));
            }
        }""",
        events,
    )
    expect(question_box(page)).to_have_value("今日の金利")
    expect(page.locator(".ca-turn")).to_have_count(0)
    question_box(page).press("Shift+Enter")
    expect(page.locator(".ca-turn")).to_have_count(0)
    question_box(page).press("Enter")
    answered(page, 1)


def test_an_answer_has_sources_that_open_and_questions_to_ask_next(
    browser: Browser, base_url: str, copilot: Copilot, model: ModelServer
) -> None:
    copilot.provider = make_provider(kind="openai_compatible", base_url=model.url)
    copilot.features = {"prompt-suggestions": True, "widget-dashboard-select": True}
    copilot.save()
    model.plays(
        calls("get_widget_data", widgets=[{"widget": "w1"}]),
        says("The highest close was 106.\n\n" * 12),
        says('["And last year?", "Why <b>so</b>?"]'),
        says("It was a good year."),
        says("[]"),
    )
    builder = open_page(browser, base_url, copilot)
    page = builder.page
    attach(page, "Price table")
    ask(page, "What was the highest close?", answers=1)
    page.locator(".ca-cite").first.click()
    expect(page.locator(".ca-popover")).to_contain_text("Playground / price_table")
    page.keyboard.press("Escape")
    page.locator("[data-play-ask]").get_by_text("Why <b>so</b>?").click()
    answered(page, 2)
    expect(page.locator(".ca-msg--user").last).to_have_text("Why <b>so</b>?")
    expect(page.locator(".ca-turn").last).to_contain_text("It was a good year.")
    page.locator("[value=thumbs_up]").last.click()
    expect(page.locator("[value=thumbs_up]").last).to_have_attribute("aria-pressed", "true")
    assert builder.mishaps == []


def test_answers_of_targets_are_aligned_row_by_row(
    browser: Browser, base_url: str, copilot: Copilot
) -> None:
    publish(copilot, user=None)
    builder = open_page(browser, base_url, copilot)
    page = builder.page
    ask(page, "What can you do?", answers=1)
    page.locator("[data-play-compare]").click()
    expect(page.locator(".ca-target")).to_have_count(2)
    ask(page, "Anything else?", answers=3)
    rows = page.locator(".ca-turn")
    ask(page, "And then?", answers=5)
    for place, cells in enumerate([2, 2, 2]):
        found = rows.nth(place).locator(":scope > .ca-msg")
        expect(found).to_have_count(cells)
        left, right = box_of(found.nth(0)), box_of(found.nth(1))
        assert left["y"] == right["y"] and left["x"] + left["width"] <= right["x"]
    expect(rows.nth(2).locator(":scope > .ca-msg").nth(1)).not_to_be_empty()
    assert builder.grave_findings(page.locator("#playground")) == []

    second = page.locator(".ca-target").nth(1)
    second.locator("summary").click()
    second.locator("[data-play-model-id]").fill("another-model")
    second.locator("[data-play-use-model]").click()
    expect(second.locator("summary")).to_contain_text("another-model")
    second.locator("[data-play-use]").click()
    expect(page.locator("[name=model]")).to_have_value("another-model")
    second.locator("[data-play-remove]").click()
    expect(page.locator(".ca-target")).to_have_count(1)
    expect(rows.nth(2).locator(":scope > .ca-msg")).to_have_count(1)
    assert builder.mishaps == []


def test_pasted_rows_tools_and_skills_reach_the_copilot_and_the_saved_test(
    builder: Visit,
) -> None:
    page = builder.page
    data = open_drawer(page, "data")
    data.locator("[data-play-rows]").fill('day\tclose\n"Mon, 5"\t1,234.5\nTue\t6')
    data.locator("[data-play-more] summary").click()
    data.locator("[data-play-tools]").fill("get_quote: Price of a share")
    data.locator("[data-play-skills]").fill("house-style: How we write")
    assert builder.grave_findings(data) == []
    data.locator("[data-play-close]").click()
    expect(page.locator("[data-play-chips] .ca-filter")).to_have_count(1)
    question_box(page).fill("In house style: get quote, please")
    question_box(page).press("Enter")
    forms = page.locator(".ca-msg .ca-box")
    for text in ("Be brief.", "It is 5."):
        forms.last.locator("textarea:enabled").fill(text)
        forms.last.locator(".ca-btn--primary:enabled").click()
    answered(page, 1)
    expect(page.locator(".ca-turn")).to_contain_text("It is 5.")
    page.locator("[data-play-save]").click()
    expect(page.locator("[data-play-note] a")).to_be_visible()
    saved: Any = TestCase.objects.get().test_data
    assert saved["widgets"][0]["rows"] == [
        {"day": "Mon, 5", "close": 1234.5},
        {"day": "Tue", "close": 6},
    ]
    assert saved["skills"] == [{"slug": "house-style", "description": "How we write"}]
    assert saved["options"] == {"tone": False}
    assert builder.mishaps == []


def test_a_running_answer_can_be_stopped(builder: Visit) -> None:
    page = builder.page
    data = open_drawer(page, "data")
    data.locator("[data-play-more] summary").click()
    data.locator("[data-play-tools]").fill("get_quote: Price of a share")
    data.locator("[data-play-close]").click()
    question_box(page).fill("get quote, please")
    question_box(page).press("Enter")
    expect(page.locator(".ca-msg .ca-box")).to_have_count(1)  # it waits for a result
    page.locator("[data-play-stop]").click()
    expect(page.locator(".ca-msg .ca-note--warn")).to_have_count(1)
    expect(page.locator("[data-play-send]")).to_be_visible()
    expect(page.locator(".ca-msg .ca-box")).to_have_count(0)
    assert builder.mishaps == []
