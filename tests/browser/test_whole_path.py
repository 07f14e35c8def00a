"""The whole way: a copilot made in the admin, asked from another origin, read as a transcript."""

import os
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect
import pytest

from copilot_admin.models import Copilot, Run
from tests.browser.visits import Visit, visit
from tests.factories import make_provider, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# One of the known origins of Workspace; the browser is given its page without asking anybody.
WORKSPACE = "http://localhost:1420"
PICTURES = os.environ.get("SCREENSHOTS_DIR", "")
WIDGET = {
    "uuid": "91ae1153-7b4d-451c-adc5-49856e90a0e6",
    "origin": "OpenBB API",
    "widget_id": "stock_price",
    "name": "Stock price",
    "description": "Daily closing prices of a share.",
    "params": [{"name": "symbol", "type": "string", "current_value": "TSLA"}],
    "metadata": {},
}
ROWS = (
    '[{"date": "2025-01-06", "close": 411.05}, {"date": "2025-01-07", "close": 394.36}, '
    '{"date": "2025-01-08", "close": 394.94}, {"date": "2025-01-10", "close": 394.74}]'
)
# Asks as Workspace does: streams the answer, and carries out a function call with a second request.
ASK = """
async ([url, body, rows]) => {
  const events = [];
  const leg = async (request) => {
    const response = await fetch(url, {
      method: "POST",
      headers: {"Content-Type": "application/json", "X-Trace-Id": "browser-chat-1"},
      body: JSON.stringify(request),
    });
    const ids = [response.headers.get("X-Trace-Id"), response.headers.get("X-Completion-Id")];
    const text = await response.text();
    const blocks = text.split("\\n\\n").filter((block) => block.startsWith("event:"));
    const seen = blocks.map((block) => {
      const [name, data] = block.split("\\n");
      return [name.slice(7), JSON.parse(data.slice(6))];
    });
    events.push(...seen);
    return [ids, seen];
  };
  const [ids, seen] = await leg(body);
  const call = seen.find(([name]) => name === "copilotFunctionCall");
  if (call) {
    const {function: name, input_arguments, extra_state} = call[1];
    await leg({...body, messages: [...body.messages,
      {role: "ai", content: JSON.stringify({function: name, input_arguments})},
      {role: "tool", function: name, input_arguments, extra_state, data: [
        {items: [{content: rows, data_format: {data_type: "object", parse_as: "table"}}]}]},
    ]});
  }
  return [ids, events];
}
"""


def picture(page: Page, name: str) -> None:
    """Keeps what the page looks like, where somebody wants to look at it."""
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=name == "transcript")


def make_copilot_in_admin(person: Visit) -> None:
    page = person.page
    person.go("/admin/copilot_admin/copilot/add/")
    page.fill("#id_name", "Price Reader")
    page.fill("#id_system_prompt", "You are a careful equity analyst.")
    page.locator('[data-menu="model"] > summary').click()
    page.locator("[data-use-model]").first.click()
    page.locator("#id_widget_data").select_option("fetch")
    page.locator('.ca-bar button[name="_continue"]').click()
    expect(page.locator("#preview")).to_contain_text("Price Reader")
    picture(page, "copilot")
    page.goto(page.url.replace("change", "settings"))
    page.locator("[name=now-access][value=open]").check()
    page.locator("#settings-form button").click()
    expect(page.locator("[data-message]")).to_be_visible()
    page.locator("#publish").click()
    page.locator("#publish-form .ca-btn--primary").click()
    expect(page.locator('[data-status="good"]')).to_be_visible()


def ask_from_workspace(browser: Browser, base_url: str, question: str) -> Any:
    context = browser.new_context(permissions=["local-network-access"])
    page = context.new_page()
    page.route(f"{WORKSPACE}/**", lambda route: route.fulfill(body="<title>Workspace</title>"))
    page.goto(WORKSPACE)
    agents = page.evaluate(
        "(url) => fetch(url).then((answer) => answer.json())", f"{base_url}/agents.json"
    )
    body = {
        "messages": [{"role": "human", "content": question}],
        "widgets": {"primary": [WIDGET], "secondary": [], "extra": []},
        "timezone": "Europe/Vienna",
    }
    answer = page.evaluate(ASK, [agents["price-reader"]["endpoints"]["query"], body, ROWS])
    page.context.close()
    return answer


@pytest.mark.nightly  # by day test_journeys.py makes and asks, test_reviewer.py reads, edge/ has the origins
def test_a_copilot_made_in_the_admin_answers_workspace_and_leaves_a_transcript(
    browser: Browser, base_url: str
) -> None:
    make_provider(name="Demo")
    make_user(username="root", is_superuser=True)
    person = visit(browser, base_url)
    person.log_in("root")
    make_copilot_in_admin(person)
    assert Copilot.objects.get().slug == "price-reader"

    question = "Make a chart of the closing prices, please."
    ids, events = ask_from_workspace(browser, base_url, question)
    assert ids[0] == "browser-chat-1"
    assert Run.objects.filter(pk=ids[1]).exists()
    names = [name for name, _ in events]
    assert names[0] == "copilotFunctionCall"
    assert {"copilotMessageArtifact", "copilotMessageChunk", "copilotCitationCollection"} <= set(
        names
    )

    person.go("/admin/")
    picture(person.page, "admin")
    person.go("/admin/copilot_admin/conversation/")
    picture(person.page, "transcripts")
    person.page.get_by_role("link", name=question).first.click()
    page = person.page
    expect(page.get_by_text(question).first).to_be_visible()
    expect(page.get_by_text("get_widget_data").first).to_be_visible()
    expect(page.locator("svg[role=img], figure svg").first).to_be_visible()
    picture(page, "transcript")
    assert person.grave_findings() == []
    assert person.mishaps == []
    page.context.close()
