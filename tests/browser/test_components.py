"""A builder finds a component and tries it, in a real browser."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
import json
import threading
from typing import Any

from playwright.sync_api import Browser, Page, expect
import pytest

from copilot_admin.admin.common import component_words
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.registry import Registry
from copilot_admin.config.roles import Role
from protocol.components import ComponentOutput, create_output
from tests.browser.visits import PHONE, Visit, visiting
from tests.factories import make_copilot, make_user
from tests.polling import HANGS_SECONDS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
CATALOGUE = "/admin/components/"


@pytest.fixture
def ada(browser: Browser, base_url: str) -> Iterator[Visit]:
    make_user(Role.BUILDERS, username="ada")
    with visiting(browser, base_url, "ada") as person:
        yield person


def press(page: Page, name: str) -> None:
    """Follows a link with the keyboard."""
    page.get_by_role("link", name=name, exact=True).focus()
    page.keyboard.press("Enter")


def test_a_component_is_found_and_tried_with_the_keyboard_alone(ada: Visit):
    page = ada.page
    ada.go("/admin/")
    press(page, "Components")
    expect(page.get_by_role("heading", name="Chart maker")).to_be_visible()
    assert ada.grave_findings() == []
    press(page, "Calculator")
    expect(page.get_by_role("heading", name="Parameters")).to_be_visible()
    assert ada.grave_findings() == []
    press(page, "Try it")

    expression = page.get_by_label("expression")
    expect(expression).to_have_value("2 + 2")
    expression.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("200 USD + 10%")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").get_by_text("Done.")).to_be_visible()
    result = page.get_by_role("region", name="What becomes of it")
    expect(result.locator("pre", has_text="220 USD").first).to_be_visible()
    yielded = page.get_by_role("region", name="What it yields").locator("pre")
    assert json.loads(yielded.inner_text())["content"][0]["text"] == {"info": "220 USD"}
    assert ada.grave_findings() == []

    expression.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("1 /")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")  # past the heading of the JSON
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).not_to_be_empty()
    expect(yielded).to_have_count(0)


@pytest.mark.nightly
def test_rows_are_written_as_json_or_as_text_and_drawn(ada: Visit):
    page = ada.page
    ada.go(f"{CATALOGUE}chart_maker/v1/try/?sample=2")
    expect(page.get_by_label("rows", exact=True)).to_have_value("quarter,sales\nQ1,5\nQ2,7")
    page.get_by_label("type").select_option("bar")
    page.get_by_role("button", name="Run").click()
    result = page.get_by_role("region", name="What becomes of it")
    expect(result.locator("svg.ca-chart")).to_be_visible()
    expect(result.locator("pre", has_text="The user now sees a bar").first).to_be_visible()
    assert ada.grave_findings() == []
    page.set_viewport_size(PHONE)
    assert ada.overflow() <= 0
    for path in ("", "chart_maker/v1/"):
        ada.go(CATALOGUE + path)
        assert ada.overflow() <= 0


@pytest.mark.nightly
def test_the_json_and_the_fields_say_the_same(ada: Visit):
    page = ada.page
    ada.go(f"{CATALOGUE}calculator/v1/try/")
    page.get_by_text("All arguments as JSON").click()
    arguments = page.get_by_role("textbox", name="Arguments")
    arguments.fill('{"expression": "3 * 3"}')
    arguments.blur()
    expect(page.get_by_label("expression")).to_have_value("3 * 3")
    page.get_by_label("expression").fill("4 * 4")
    expect(arguments).to_have_value('{\n  "expression": "4 * 4"\n}')


@pytest.mark.nightly
def test_what_is_no_json_is_said_beside_it_and_not_run(ada: Visit):
    page = ada.page
    ada.go(f"{CATALOGUE}table_analyst/v1/try/")
    operations = page.get_by_label("operations")
    operations.fill("{")
    expect(page.get_by_text("This is no JSON.")).to_be_visible()
    page.get_by_role("button", name="Run").press("Enter")
    expect(operations).to_be_focused()
    expect(page.locator("[data-ca-trial-outputs] li")).to_have_count(0)
    operations.fill('{"op": "limit", "n": 1}')
    page.get_by_role("button", name="Run").press("Enter")
    result = page.get_by_role("region", name="What becomes of it")
    expect(result.locator("table tbody tr").first).to_be_visible()
    assert ada.grave_findings() == []


@pytest.mark.nightly
def test_a_text_or_a_file_is_searched(ada: Visit):
    page = ada.page
    page.set_viewport_size(PHONE)
    ada.go(f"{CATALOGUE}document_search/v1/try/")
    assert ada.grave_findings() == []
    assert ada.overflow() <= 0
    page.get_by_label("query").fill("melons")
    page.get_by_label("Text of a document").fill("Nothing of the kind.")
    notes = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"Melons are dear."}
    page.get_by_label("Or a file").set_input_files([notes])
    page.get_by_role("button", name="Run").press("Enter")
    result = page.get_by_role("region", name="What becomes of it")
    expect(result.get_by_text("One source: notes.txt")).to_be_visible()


def test_a_try_is_stopped_and_its_component_with_it(ada: Visit, monkeypatch: pytest.MonkeyPatch):
    closed = threading.Event()

    class Waits(Component):
        name = "waits"
        samples = ({},)

        async def tool_eval(self, **kwargs: Any) -> AsyncGenerator[ComponentOutput, None]:
            """Begins, and waits."""
            try:
                yield create_output("text", "begun")
                await asyncio.Event().wait()
            finally:
                closed.set()

    monkeypatch.setattr(component_words, "registry", lambda: Registry((Waits,)))
    page = ada.page
    ada.go(f"{CATALOGUE}waits/v1/try/")
    page.get_by_role("button", name="Run").press("Enter")
    expect(page.get_by_role("region", name="What it yields")).to_contain_text("begun")
    expect(page.get_by_role("status").get_by_text("Running…")).to_be_visible()
    page.get_by_role("button", name="Stop").press("Enter")
    expect(page.get_by_role("status").get_by_text("Stopped.")).to_be_visible()
    expect(page.get_by_role("button", name="Run")).to_be_focused()
    assert closed.wait(HANGS_SECONDS)


@pytest.mark.nightly
def test_a_component_asks_the_model_that_a_copilot_lends(ada: Visit):
    make_copilot(name="Desk")
    page = ada.page
    ada.go(f"{CATALOGUE}similar_question/v1/try/")
    expect(page.get_by_label("Copilot").locator("option:checked")).to_have_text("Desk")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("tokens of rehearsal")).to_be_visible()
    expect(page.get_by_role("region", name="What it yields").locator("pre").nth(1)).to_be_visible()
