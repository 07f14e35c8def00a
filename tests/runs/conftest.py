"""What stands for the journal and for those who watch, where a run is looked at alone."""

import pytest

from copilot_admin.runs import open_run as opening
from copilot_admin.runs import run as run_task
from tests.runs.running import Noted


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Noted:
    """Stands for the journal and for those who watch."""
    made = Noted()
    for module in (run_task, opening):
        monkeypatch.setattr(module, "JOURNAL", made)
    monkeypatch.setattr(run_task, "announce", made.announce)
    monkeypatch.setattr(run_task, "may_be_watched", lambda conversation_id: True)
    return made
