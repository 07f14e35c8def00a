"""What limits refused is kept with who asked for it, and with nobody else."""

import asyncio
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from copilot_admin.answering import refused
from copilot_admin.answering.refused import Refused
from copilot_admin.copilots.users import AskingUser
from copilot_admin.journal import Refusal
from copilot_admin.models import Logging


class Rows:
    """A journal that only remembers: who was refused, and how often."""

    def __init__(self):
        self.refusals = {}
        self.times = {}

    async def refuse(self, refusal):
        self.refusals[refusal.run_id] = refusal
        self.times[refusal.run_id] = 1

    async def refuse_more(self, refusal, more):
        self.times[refusal.run_id] += more

    @property
    def counted(self):
        return {
            (one.principal, one.user.id if one.user else None): self.times[one.run_id]
            for one in self.refusals.values()
        }


@pytest.fixture
def rows(monkeypatch):
    made = Rows()
    monkeypatch.setattr(refused, "JOURNAL", made)
    return made


def refusal_of(user, *, principal="anonymous"):
    return Refusal(
        run_id=uuid4(), copilot_id=1, version_id=None, logging=Logging.EVERYTHING,
        principal=principal, started_at=datetime.now(UTC), error="", error_code="limit-reached",
        user=AskingUser(id=user) if user else None,
    )  # fmt: skip


def noted(*refusals):
    async def note_all():
        kept = Refused()
        for one in refusals:
            await kept.note(one, limit="requests_per_day")
        await kept.close()

    asyncio.run(note_all())


def test_each_user_of_the_same_caller_has_a_run_of_his_own(rows):
    asked = ("anna", "ben", "anna", None, "anna", None)
    noted(*(refusal_of(user) for user in asked))
    assert rows.counted == {
        ("anonymous", "anna"): 3, ("anonymous", "ben"): 1, ("anonymous", None): 2
    }  # fmt: skip


def test_what_is_more_than_can_be_told_apart_is_counted_as_of_nobody(rows, monkeypatch):
    monkeypatch.setattr(refused, "_MOST", 2)
    users = ("anna", "ben", "carl", "dora", "anna")
    noted(*(refusal_of(user, principal="key:1") for user in users))
    assert rows.counted == {("key:1", "anna"): 2, ("key:1", "ben"): 1, ("key:1", None): 2}
