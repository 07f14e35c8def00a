"""A provider that fails: one line in the log, and its own words for operators and reviewers."""

import logging

from django.test import AsyncClient
import pytest

from copilot_admin.errors import (
    ProviderBroke,
    ProviderBusy,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RunError,
)
from copilot_admin.models import Copilot, Logging, Run
from tests.agent.scripted import broken
from tests.api.test_query import QUERY, script
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
