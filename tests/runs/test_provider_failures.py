"""Providers that fail, in the log and for operators, and events that nothing but their class knows."""

import logging
from typing import Any

from django.test import AsyncClient
import pytest

from copilot_admin.agent.tools import registry
from copilot_admin.agent.tools.tool import ToolContext, ToolResult, tool
from copilot_admin.agent.values.model_call import Finish, ToolCall
from copilot_admin.errors import (
    ProviderBroke,
    ProviderBusy,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RunError,
)
from copilot_admin.models import Conversation, Copilot, Event, Logging, Outcome, Run
from tests.agent.scripted import ScriptedProvider, Step, broken, text
from tests.api.test_query import QUERY, script
from tests.docs.test_recipes import execute
from tests.factories import make_published
from tests.streams import read

pytestmark = pytest.mark.django_db(transaction=True)
CANARY = "canary-words"
QUESTION = {"messages": [{"role": "human", "content": f"{CANARY} of the question"}]}


def lines_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    records = [one for one in caplog.records if one.name.startswith("copilot_admin")]
    return [one.getMessage() for one in records]


@pytest.mark.parametrize(
    "kind", [ProviderUnavailable, ProviderRefused, ProviderTimeout, ProviderBroke, ProviderBusy]
)
def test_the_words_of_the_provider_are_in_the_log_and_the_transcript(kind, monkeypatch, caplog):
    monkeypatch.setattr("copilot_admin.agent.llm.model_stream.MAX_RETRIES", 0)
    copilot = make_published(slug="news", system_prompt=f"{CANARY} of the prompt")
    error: RunError = kind("Ask again.", detail="HTTP 400: no such model")
    script(monkeypatch, broken(error))
    with caplog.at_level(logging.WARNING, logger="copilot_admin"):
        events = read(AsyncClient(), QUERY, QUESTION)
    run = Run.objects.get()
    name = copilot.provider.name
    assert lines_of(caplog) == [
        f"run {run.pk} failed: provider '{name}', {kind.__name__}: HTTP 400: no such model"
    ]
    assert run.notes == ["The provider's words: HTTP 400: no such model"]
    assert "no such model" not in str(events)
    assert CANARY not in caplog.text


def test_a_copilot_that_keeps_no_content_keeps_no_words_of_the_provider(monkeypatch, caplog):
    make_published(slug="news")
    Copilot.objects.update(logging=Logging.METADATA)
    script(monkeypatch, broken(ProviderRefused("Ask again.", detail=CANARY)))
    with caplog.at_level(logging.WARNING, logger="copilot_admin"):
        read(AsyncClient(), QUERY, QUESTION)
    assert Run.objects.get().notes == []
    assert CANARY not in caplog.text


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
