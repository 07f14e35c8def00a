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
from tests.browser.visits import Visit, visiting
from tests.factories import make_user
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
