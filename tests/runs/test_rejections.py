"""Rejected requests are stored in batches: one run for each caller, user and limit."""

import asyncio
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.models import Logging
from copilot_admin.runs import open_run
from copilot_admin.runs.open_run import RejectedRuns
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.transcripts.store.run_start import Rejection


class Rows:
    """A store that only remembers."""

    def __init__(self) -> None:
        self.counted: list[tuple[str | None, int]] = []
        self.is_down = False

    async def reject(self, rejections: tuple[Rejection, ...]) -> None:
        if self.is_down:
            raise DatabaseUnavailable
        self.counted += [(one.user.id if one.user else None, one.times) for one in rejections]


def test_each_user_of_a_caller_has_a_run_which_waits_while_the_database_is_down(monkeypatch):
    rows, runs = Rows(), RejectedRuns()
    monkeypatch.setattr(open_run, "STORE", rows)
    for user in ("anna", "ben", "anna", None, "anna", None):
        rejection = Rejection(
            run_id=uuid4(), copilot_id=1, version_id=None, logging=Logging.EVERYTHING,
            principal="key:1", started_at=datetime.now(UTC), error="", error_code="limit-reached",
            user=AskingUser(id=user) if user else None,
        )  # fmt: skip
        runs.add(rejection, limit="requests_per_day")
    rows.is_down = True
    with pytest.raises(DatabaseUnavailable):
        asyncio.run(runs.store())
    rows.is_down = False
    for _ in range(2):
        asyncio.run(runs.store())
    assert rows.counted == [("anna", 3), ("ben", 1), (None, 2)]
