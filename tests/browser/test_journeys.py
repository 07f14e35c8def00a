"""The ways of a builder from end to end, with what the world outside sees of each step."""

from collections.abc import Iterator
from http.client import HTTPConnection
import json
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Locator, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Access
from tests.browser.test_playground import ask, attach
from tests.browser.visits import Visit, visiting
from tests.evaluation.evaluations import PRICES
from tests.factories import make_case, make_provider, make_published, make_user
from tests.polling import HANGS_SECONDS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MOST_CLICKS = 8  # from a template to a connected copilot
FORM = "/admin/copilot_admin/copilot/{}/change/"


@pytest.fixture
def ada(browser: Browser, base_url: str) -> Iterator[Visit]:
    make_user(Role.BUILDERS, Role.OPERATORS, username="ada")
    with visiting(browser, base_url, "ada") as person:
        yield person


class Outside:
    """Workspace: knows an address and a key, and nothing of the admin."""

    def __init__(self, address: str, key: str = "") -> None:
        self._host = urlsplit(address).netloc
        self._headers = {"Content-Type": "application/json", **({"X-API-Key": key} if key else {})}

    def agents(self) -> list[str]:
        """The names of the copilots that it is offered."""
        return [agent["name"] for agent in json.loads(self._asked("GET", "/agents.json")).values()]

    def answer(self, slug: str) -> str:
        """What a copilot says to a question."""
        body = json.dumps({"messages": [{"role": "human", "content": "What can you do?"}]})
        said = self._asked("POST", f"/v1/copilots/{slug}/query", body)
        data = [json.loads(line[6:]) for line in said.splitlines() if line.startswith("data: ")]
        return "".join(one.get("delta", "") for one in data)

    def _asked(self, method: str, path: str, body: str | None = None) -> str:
        line = HTTPConnection(self._host, timeout=HANGS_SECONDS)
        line.request(method, path, body=body, headers=self._headers)
        said = line.getresponse().read().decode()
        line.close()
        return said


def test_from_a_template_to_a_connected_copilot_in_eight_clicks(ada: Visit) -> None:
    make_provider(name="Demo")
    page, clicks = ada.page, []

    def click(what: Locator) -> None:
        what.click()
        clicks.append(str(what))

    ada.go("/admin/")
    click(page.get_by_role("link", name="Copilots", exact=True))
    click(page.get_by_role("link", name="Templates", exact=True).last)
    click(page.get_by_role("button", name="Use template Charts"))
    page.wait_for_url("**/change/**")
    page.wait_for_load_state()  # a page without its scripts takes Enter for a new line
    click(page.locator("#playground-question"))
    page.keyboard.type("What can you do?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-play-facts]")).to_have_count(1)
    assert Outside(ada.base_url).agents() == []
    click(page.get_by_role("button", name="Save and publish…"))
    click(page.get_by_role("button", name="Publish", exact=True))
    click(page.get_by_role("link", name="Next: connect it to Workspace"))
    click(page.get_by_role("button", name="Create key"))

    address = page.get_by_label("Server URL", exact=True).input_value()
    key = page.get_by_label("New key", exact=True).input_value()
    workspace = Outside(address, key)
    assert workspace.agents() == ["Charts"]
    assert "no language model was used" in workspace.answer("charts")
    expect(page.locator("#test-summary")).to_have_attribute("data-failed", "0")
    assert len(clicks) <= MOST_CLICKS


def test_a_change_is_tried_compared_published_and_taken_back(ada: Visit) -> None:
    copilot = make_published(
        name="Reader",
        slug="reader",
        system_prompt="You are careful.",
        widget_data="fetch",
        access=Access.OPEN,
    )
    make_case(copilot, "What was the close?", test_data={"widgets": [PRICES]})
    make_case(copilot, "And now?", expect={"contains": "careful"})
    page, workspace = ada.page, Outside(ada.base_url)

    ada.go(FORM.format(copilot.pk))
    page.get_by_label("System prompt").fill("You are bold.")
    attach(page, "Price table")
    ask(page, "What was the close?", answers=1)
    expect(page.get_by_role("log")).to_contain_text("get_widget_data")
    assert "You are careful." in workspace.answer("reader")

    page.get_by_role("button", name="Save and publish…").click()
    expect(page.locator(".ca-change del")).to_have_text("careful")
    expect(page.locator(".ca-change ins")).to_have_text("bold")
    expect(page.locator("[data-tests]")).to_be_visible()
    assert ada.grave_findings() == []
    assert "You are careful." in workspace.answer("reader")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_text("Live: version 2,")).to_be_visible()
    assert "You are bold." in workspace.answer("reader")

    page.get_by_role("link", name="All versions").click()
    page.get_by_role("link", name="What changed").click()
    expect(page.locator(".ca-change del")).to_have_text("careful")
    page.go_back()
    page.get_by_role("button", name="Publish again").click()
    expect(page.get_by_role("link", name="Next: connect it to Workspace")).to_be_visible()
    assert "You are careful." in workspace.answer("reader")
