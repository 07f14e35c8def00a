"""A provider that fails leaves one line in the log: which run, which provider, how; no words."""

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
from copilot_admin.models import Run
from tests.agent.scripted import broken
from tests.api.test_query import QUERY, script
from tests.factories import make_published
from tests.streams import read

pytestmark = pytest.mark.django_db(transaction=True)
CANARY = "canary-words"
QUESTION = {"messages": [{"role": "human", "content": f"{CANARY} of the question"}]}


@pytest.mark.parametrize(
    "kind", [ProviderUnavailable, ProviderRefused, ProviderTimeout, ProviderBroke, ProviderBusy]
)
def test_a_failure_is_one_line_that_names_run_provider_and_error(kind, monkeypatch, caplog):
    monkeypatch.setattr("copilot_admin.agent.llm.retries.MAX_RETRIES", 0)
    copilot = make_published(slug="news", system_prompt=f"{CANARY} of the prompt")
    error: RunError = kind(f"{CANARY} in public", detail=f"{CANARY} in detail")
    script(monkeypatch, broken(error))
    with caplog.at_level(logging.WARNING, logger="copilot_admin"):
        read(AsyncClient(), QUERY, QUESTION)
    lines = [one.getMessage() for one in caplog.records if one.name.startswith("copilot_admin")]
    name = copilot.provider.name
    assert lines == [f"run {Run.objects.get().pk} failed: provider '{name}', {kind.__name__}"]
    assert CANARY not in caplog.text


def test_a_copilot_whose_provider_cannot_be_used_names_none(monkeypatch, caplog):
    copilot = make_published(slug="news")
    copilot.provider.kind = "gone"
    copilot.provider.save()
    with caplog.at_level(logging.WARNING, logger="copilot_admin"):
        read(AsyncClient(), QUERY, QUESTION)
    (line,) = [one.getMessage() for one in caplog.records if one.name.startswith("copilot_admin")]
    assert line == f"run {Run.objects.get().pk} failed: no provider, NotReady"
