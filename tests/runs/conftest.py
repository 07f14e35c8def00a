"""A store and viewers that only note, for tests of a run alone."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from copilot_admin.runs import open_run
from copilot_admin.runs import run as run_task
from tests.runs.running import Noted


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Noted:
    """Replaces the store and the viewers."""
    made = Noted()

    async def at_once(work: Callable[[], Any]) -> Any:
        return work()  # a thread would not know of the clock that jumps

    for module in (run_task, open_run):
        monkeypatch.setattr(module, "STORE", made)
    monkeypatch.setattr(run_task, "broadcast", made.broadcast)
    monkeypatch.setattr(run_task, "may_have_viewers", lambda conversation_id: True)
    monkeypatch.setattr(asyncio, "to_thread", at_once)
    return made
