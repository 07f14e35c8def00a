"""A builder's journeys from end to end, and what Workspace sees after each step."""

from collections.abc import Iterator
from http.client import HTTPConnection
import json
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Locator, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Access, Copilot
from tests.browser.test_playground import ask, attach
from tests.browser.visits import Visit, visiting
from tests.factories import make_case, make_provider, make_published, make_user
from tests.polling import HANGS_SECONDS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MAX_CLICKS_TO_ANSWER = 6
MAX_CLICKS_TO_CONNECTION = 10
FORM = "/admin/copilot_admin/copilot/{}/change/"


@pytest.fixture
def ada(browser: Browser, base_url: str) -> Iterator[Visit]:
    make_user(Role.BUILDERS, Role.OPERATORS, username="ada")
    with visiting(browser, base_url, "ada") as person:
        yield person


class Workspace:
    """A client that knows the URL of the server and perhaps a key."""

    def __init__(self, url: str, key: str = "") -> None:
        self._host = urlsplit(url).netloc
        self._headers = {"Content-Type": "application/json", **({"X-API-Key": key} if key else {})}

    def agents(self) -> list[str]:
        """Return the names of the copilots on offer."""
        found = json.loads(self._request("GET", "/agents.json"))
        return [agent["name"] for agent in found.values()]

    def answer(self, slug: str) -> str:
        """Ask a copilot and return its answer."""
        body = json.dumps({"messages": [{"role": "human", "content": "What can you do?"}]})
        text = self._request("POST", f"/v1/copilots/{slug}/query", body)
        data = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
        return "".join(one.get("delta", "") for one in data)

    def _request(self, method: str, path: str, body: str | None = None) -> str:
        connection = HTTPConnection(self._host, timeout=HANGS_SECONDS)
        connection.request(method, path, body=body, headers=self._headers)
        text = connection.getresponse().read().decode()
        connection.close()
        return text


def test_from_a_template_to_an_answer_and_to_workspace(ada: Visit) -> None:
    make_provider(name="Demo")
    page, clicks = ada.page, []

    def use(what: Locator) -> None:
        clicks.append(str(what))
        what.click()

    ada.go("/admin/")
    use(page.get_by_role("link", name="Use a template").first)
    use(page.get_by_role("button", name="Use template Morning Note"))
    expect(page.locator("[data-play-targets]")).not_to_be_empty()  # drawn by the script
    page.locator("#playground-question").focus()
    page.keyboard.type("What can you do?")
    use(page.locator("[data-play-send]"))
    expect(page.locator("[data-play-facts]")).to_have_count(1)
    assert len(clicks) <= MAX_CLICKS_TO_ANSWER
    assert Workspace(ada.base_url).agents() == []

    use(page.locator("#publish"))
    use(page.locator("#publish-form .ca-btn--primary"))
    use(page.locator('[data-message=success] a[href^="/admin/connect/"]'))
    use(page.locator("#key-form button"))
    url = page.locator("#connect-address").input_value()
    workspace = Workspace(url, page.locator("#new-key").input_value())
    assert workspace.agents() == ["Morning Note"]
    assert workspace.answer(Copilot.objects.get().slug)
    use(page.locator("#test-form button"))
    expect(page.locator("#test-summary")).to_have_attribute("data-failed", "0")
    assert len(clicks) <= MAX_CLICKS_TO_CONNECTION


def test_a_change_is_tried_compared_tested_published_and_rolled_back(ada: Visit) -> None:
    copilot = make_published(
        name="Reader",
        slug="reader",
        system_prompt="You are careful.",
        widget_data="fetch",
        access=Access.OPEN,
    )
    make_case(copilot, "And now?", expect={"contains": "bold"})
    page, workspace = ada.page, Workspace(ada.base_url)

    ada.go(FORM.format(copilot.pk))
    page.fill("#id_system_prompt", "You are bold.")
    attach(page, "Price table")
    ask(page, "What was the close?", answers=1)
    expect(page.locator("[data-play-log]")).to_contain_text("get_widget_data")
    page.locator(".ca-bar [data-changes]").click()
    expect(page.locator(".ca-diff del")).to_have_text("careful")
    expect(page.locator(".ca-diff ins")).to_have_text("bold")
    assert ada.grave_findings() == []
    assert "You are careful." in workspace.answer("reader")

    ada.go(f"/admin/copilot_admin/copilot/{copilot.pk}/tests/")
    page.locator("#run-tests").click()
    page.locator("#panel-form [name=_save]").click()
    expect(page.locator("#matrix td[data-verdict=passed]")).to_have_count(1)
    page.locator("#publish").click()
    expect(page.locator("[data-tests='1/1']")).to_be_visible()
    assert ada.grave_findings() == []
    page.locator("#publish-form .ca-btn--primary").click()
    expect(page.locator("[data-message=success]")).to_be_visible()
    assert "You are bold." in workspace.answer("reader")

    ada.go(f"/admin/copilot_admin/copilot/{copilot.pk}/versions/")
    earlier = page.locator("[data-version='1']")
    earlier.locator("summary").click()
    earlier.locator('a[href$="/publish/"]').click()
    expect(page.locator(".ca-diff ins")).to_have_text("careful")
    page.locator("#restore-form button[type=submit]").click()
    expect(page.locator("[data-message=success]")).to_be_visible()
    assert "You are careful." in workspace.answer("reader")
