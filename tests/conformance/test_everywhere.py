"""What a stranger expects of every example alike, asked of every template."""

import json
from typing import Any

import pytest

from copilot_admin.import_export.templates import templates
from copilot_admin.models import Outcome, Run
from tests.conformance.strangers import NEWS, import_template, widgets
from tests.wire import Line
from tests.workspace.client import text_of
from tests.workspace.model_server import calls, says

pytestmark = pytest.mark.django_db(transaction=True)

ORIGIN = "https://pro.openbb.co"
FLAGS = {
    "streaming", "widget-dashboard-select", "widget-dashboard-search", "widget-global-search",
    "file-upload", "generative-ui", "mcp-tools", "feedback",
}  # fmt: skip
READERS = [slug for slug, one in templates().items() if one.entry["widget_data"] != "off"]


def test_agents_json_describes_each_as_workspace_wants_it(service_url, model):
    for slug in templates():
        import_template(slug, model)
    with Line(f"{service_url}/agents.json", method="GET", headers={"Origin": ORIGIN}) as line:
        agents = json.loads(line.read_all())
    assert line.headers["access-control-allow-origin"] == ORIGIN
    assert set(agents) == set(templates())
    for slug, agent in agents.items():
        entry = templates()[slug].entry
        assert (agent["name"], agent["description"]) == (entry["name"], entry["description"])
        assert agent["endpoints"]["query"] == f"{service_url}/v1/copilots/{slug}/query"
        assert set(agent["features"]) >= FLAGS
        on = {key for key in FLAGS if agent["features"][key] is True}
        assert on == {"streaming", *entry.get("features", {})} & FLAGS
        # A value of another type would make Workspace refuse the whole document.
        assert all(isinstance(value, bool | dict) for value in agent["features"].values())


@pytest.mark.parametrize("slug", READERS)
def test_a_client_that_forgets_the_call_is_not_driven_in_circles(slug, chat_with):
    """A client drops call and result in some cases, and then sends its question again."""
    ask = calls("get_widget_data", widgets=[{"id": NEWS["uuid"]}])
    asks = templates()[slug].entry["widget_data"] == "ask"
    script = [ask, ask, says("Without it.")] if asks else [says("Without it.")]
    stranger = chat_with(slug, *script)
    stranger.chat.messages = [{"role": "human", "content": "What is new?"}]
    stranger.chat.request = widgets(NEWS)
    first: Any = stranger.chat.post()
    assert first[-1][0] == "copilotFunctionCall"
    again: Any = stranger.chat.post()
    assert "copilotFunctionCall" not in dict(again)
    [warning] = [data for name, data in again if data.get("eventType") == "WARNING"]
    assert warning["message"].startswith("The dashboard sent the question again without the data")
    assert text_of(again).endswith("Without it.")
    assert [run.outcome for run in Run.objects.all()] == [Outcome.COMPLETED] * 2
