"""What nothing but its class knows: it is said, kept and shown, and the answer goes on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
import json
from typing import Any

from django.test import AsyncClient, Client
import pytest

from copilot_admin.agent.tools import registry
from copilot_admin.agent.tools.tool import ToolContext, ToolResult, tool
from copilot_admin.agent.values.model_call import Finish, ToolCall
from copilot_admin.models import Conversation, Event, Outcome, Run
from protocol.events import MessageChunk
from tests.agent.scripted import ScriptedProvider, Step, text
from tests.docs.recipes import execute
from tests.factories import make_published
from tests.streams import read

pytestmark = pytest.mark.django_db(transaction=True)

QUERY = "/v1/copilots/news/query"
HELLO = {"messages": [{"role": "human", "content": "Will it rain?"}], "timezone": "UTC"}


Forecast: Any = execute("protocol/events.py")["Forecast"]  # of docs/extending.md


class Sky(Enum):
    """No JSON by itself."""

    CLEAR = "clear"


@dataclass(frozen=True)
class Weather:
    """An output that is no event, of the values that a class may have."""

    day: date
    sky: Sky
    winds: Mapping[int, set[float]]
    picture: bytes
    found: bool
    source: type
    key: str = field(repr=False)


WEATHER = Weather(date(2026, 11, 20), Sky.CLEAR, {1: {2.5}}, b"PNG", True, Sky, key="secret-4711")
WEATHER_DATA = {
    "day": "2026-11-20",
    "sky": "clear",
    "winds": {"1": [2.5]},
    "picture": "3 bytes",
    "found": True,
    "source": "<enum 'Sky'>",
}

RAIN: Any = {"place": "Bern <b>", "days": ({"day": "Mon", "rain": 3}, {"day": "Tue", "rain": 0})}
SAID = {"place": "Bern <b>", "days": [{"day": "Mon", "rain": 3}, {"day": "Tue", "rain": 0}]}


@tool
async def forecast(context: ToolContext) -> ToolResult:
    """Tells the weather."""
    return ToolResult("It rains.", (Forecast(**RAIN),))


@pytest.fixture
def forecaster(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copilot whose tool puts out the new event between two pieces of text."""
    monkeypatch.setattr(registry, "TOOLS", (forecast,))
    call = ToolCall(id="c", name="forecast", arguments="{}")
    provider = ScriptedProvider(
        [Step((*text("Look: ").actions[:-1], call, Finish("tool_calls"))), text("wet.")]
    )
    monkeypatch.setattr("copilot_admin.copilots.live.make_provider", lambda spec: provider)
    make_published(slug="news", tools=["forecast"])


def kept() -> list[Any]:
    """What is stored of the run beside text and tools, after it ended well."""
    assert Run.objects.get().outcome == Outcome.COMPLETED
    rows = Event.objects.filter(type="other")
    return [(row.text_offset, row.payload) for row in rows]


def page(reviewer: Client, rest: str = "change/") -> str:
    conversation = Conversation.objects.get()
    path = f"/admin/copilot_admin/conversation/{conversation.pk}/{rest}"
    response = reviewer.get(path)
    assert response.status_code == 200
    return str(response.content.decode())


@pytest.mark.usefixtures("forecaster")
class TestNewEvent:
    def test_it_is_said_and_kept_where_it_came(self):
        assert read(AsyncClient(), QUERY, HELLO) == [
            ("copilotMessageChunk", {"delta": "Look: "}),
            ("copilotForecast", SAID),
            ("copilotMessageChunk", {"delta": "wet."}),
        ]
        assert kept() == [(6, {"event": "copilotForecast", "data": SAID})]

    def test_its_transcript_shows_it_in_a_plain_form(self, reviewer):
        read(AsyncClient(), QUERY, HELLO)
        shown = page(reviewer)
        assert "copilotForecast" in shown
        assert "Bern &lt;b&gt;" in shown
        raw = page(reviewer, f"runs/{Run.objects.get().pk}/")
        assert "copilotForecast" in raw
        assert "Bern &lt;b&gt;" in raw

    def test_where_no_content_is_kept_its_row_says_only_that_it_was(self):
        make_published(slug="quiet", tools=["forecast"], logging="metadata")
        read(AsyncClient(), "/v1/copilots/quiet/query", HELLO)
        assert kept() == [(6, None)]


def test_an_output_that_is_no_event_is_kept_and_shown_but_not_said(monkeypatch, reviewer):
    async def answer(answer_request: object) -> Any:
        for output in (WEATHER, MessageChunk("No."), "just words", Finish("stop")):
            yield output

    monkeypatch.setattr("copilot_admin.runs.run.answer", answer)
    make_published(slug="news")
    assert read(AsyncClient(), QUERY, HELLO) == [("copilotMessageChunk", {"delta": "No."})]
    assert kept() == [
        (0, {"fact": "Weather", "data": WEATHER_DATA}),
        (3, {"fact": "str", "data": "just words"}),
    ]
    shown = page(reviewer)
    assert "Weather" in shown
    assert "2026-11-20" in shown
    assert "just words" in shown
    assert "secret-4711" not in json.dumps(kept())
