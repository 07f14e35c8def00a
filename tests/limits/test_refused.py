"""What limits refused is kept as one run for each caller, user and kind of limit."""

import asyncio
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from copilot_admin.answering import refused
from copilot_admin.answering.refused import Refused
from copilot_admin.copilots.users import AskingUser
from copilot_admin.journal import Refusal
from copilot_admin.models import Logging


@pytest.fixture
def stored(monkeypatch):
    """What the journal was told: of whom a run is, and for how many more it stands."""
    told = []

    class Journal:
        async def refuse(self, refusal):
            told.append((refusal.principal, refusal.user and refusal.user.id))

        async def refuse_more(self, refusal, more):
            told.append((refusal.principal, refusal.user and refusal.user.id, more))

    monkeypatch.setattr(refused, "JOURNAL", Journal())
    return told


def refusal(user: str = "", principal: str = "key:7") -> Refusal:
    return Refusal(
        run_id=uuid4(), copilot_id=3, version_id=None, logging=Logging.EVERYTHING,
        principal=principal, started_at=datetime.now(UTC), error="Too much.", error_code="c",
        user=AskingUser(id=user) if user else None,
    )  # fmt: skip


def note(kept: Refused, *those: Refusal) -> None:
    async def all_of_them() -> None:
        for one in those:
            await kept.note(one, limit="concurrent")
        await kept.close()

    asyncio.run(all_of_them())


def test_two_users_of_one_key_are_two(stored):
    note(Refused(), refusal("ada"), refusal("eve"), refusal("ada"), refusal(), refusal("ada"))
    assert stored == [("key:7", "ada"), ("key:7", "eve"), ("key:7", None), ("key:7", "ada", 2)]


def test_what_stands_for_many_users_is_none_of_theirs(stored, monkeypatch):
    monkeypatch.setattr(refused, "_MOST", 1)
    note(Refused(), *(refusal(user) for user in ("ada", "eve", "sam", "zoe")))
    assert stored == [("key:7", "ada"), ("key:7", None), ("key:7", None, 2)]
