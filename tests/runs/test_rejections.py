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
        self.rejections: list[Rejection] = []
        self.is_down = False

    async def reject(self, rejections: tuple[Rejection, ...]) -> None:
        if self.is_down:
            raise DatabaseUnavailable
        self.rejections += rejections

    @property
    def counted(self) -> list[tuple[str, str | None, int]]:
        return [
            (one.principal, one.user.id if one.user else None, one.times) for one in self.rejections
        ]


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Rows:
    made = Rows()
    monkeypatch.setattr(open_run, "STORE", made)
    return made


def rejected(*users: str | None) -> RejectedRuns:
    runs = RejectedRuns()
    for user in users:
        rejection = Rejection(
            run_id=uuid4(), copilot_id=1, version_id=None, logging=Logging.EVERYTHING,
            principal="key:1", started_at=datetime.now(UTC), error="", error_code="limit-reached",
            user=AskingUser(id=user) if user else None,
        )  # fmt: skip
        runs.add(rejection, limit="requests_per_day")
    return runs


def test_each_user_of_a_caller_has_a_run_with_the_number_of_their_requests(rows):
    runs = rejected("anna", "ben", "anna", None, "anna", None)
    for _ in range(2):
        asyncio.run(runs.store())
    assert rows.counted == [("key:1", "anna", 3), ("key:1", "ben", 1), ("key:1", None, 2)]


def test_rejections_wait_while_the_database_is_down(rows):
    runs = rejected("anna", "anna")
    rows.is_down = True
    with pytest.raises(DatabaseUnavailable):
        asyncio.run(runs.store())
    rows.is_down = False
    asyncio.run(runs.store())
    assert rows.counted == [("key:1", "anna", 2)]
