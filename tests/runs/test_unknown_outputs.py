"""An event that nothing but its class knows: it is said, kept and shown, and the answer goes on."""

from typing import Any

from django.test import AsyncClient
import pytest

from copilot_admin.agent.tools import registry
from copilot_admin.agent.tools.tool import ToolContext, ToolResult, tool
from copilot_admin.agent.values.model_call import Finish, ToolCall
from copilot_admin.models import Conversation, Event, Outcome, Run
from tests.agent.scripted import ScriptedProvider, Step, text
from tests.docs.test_recipes import execute
from tests.factories import make_published
from tests.streams import read

pytestmark = pytest.mark.django_db(transaction=True)

HELLO = {"messages": [{"role": "human", "content": "Will it rain?"}], "timezone": "UTC"}
Forecast: Any = execute("protocol/events.py")["Forecast"]  # of docs/extending.md
RAIN: Any = {"place": "Bern <b>", "days": ({"day": "Mon", "rain": 3},)}
SAID = {"place": "Bern <b>", "days": [{"day": "Mon", "rain": 3}]}


@tool
async def forecast(context: ToolContext) -> ToolResult:
    """Tells the weather."""
    return ToolResult("It rains.", (Forecast(**RAIN),))


@pytest.mark.parametrize(
    ("logging", "kept"),
    [("everything", {"event": "copilotForecast", "data": SAID}), ("metadata", None)],
)
def test_a_new_event_is_said_and_kept_where_it_came(monkeypatch, reviewer, logging, kept):
    monkeypatch.setattr(registry, "TOOLS", (forecast,))
    call = ToolCall(id="c", name="forecast", arguments="{}")
    looking = Step((*text("Look: ").actions[:-1], call, Finish("tool_calls")))
    provider = ScriptedProvider([looking, text("wet.")])
    monkeypatch.setattr("copilot_admin.copilots.live.make_provider", lambda spec: provider)
    make_published(slug="news", tools=["forecast"], logging=logging)
    assert read(AsyncClient(), "/v1/copilots/news/query", HELLO) == [
        ("copilotMessageChunk", {"delta": "Look: "}),
        ("copilotForecast", SAID),
        ("copilotMessageChunk", {"delta": "wet."}),
    ]
    run = Run.objects.get()
    assert run.outcome == Outcome.COMPLETED
    rows = Event.objects.filter(type="other").values_list("text_offset", "payload")
    assert list(rows) == [(6, kept)]
    path = f"/admin/copilot_admin/conversation/{Conversation.objects.get().pk}"
    for page in ("change", f"runs/{run.pk}"):
        shown = reviewer.get(f"{path}/{page}/").content.decode()
        assert ("copilotForecast" in shown, "Bern &lt;b&gt;" in shown) == (bool(kept),) * 2
