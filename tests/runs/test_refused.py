"""What limits refused is kept with who asked for it, and with nobody else."""

import asyncio
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from copilot_admin.copilots.users import AskingUser
from copilot_admin.models import Logging
from copilot_admin.runs import refused
from copilot_admin.runs.refused import Refused
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.transcripts.store import Refusal


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
    assert refused._MOST == 1000
    monkeypatch.setattr(refused, "_MOST", 2)
    users = ("anna", "ben", "carl", "dora", "anna")
    noted(*(refusal_of(user, principal="key:1") for user in users))
    assert rows.counted == {("key:1", "anna"): 2, ("key:1", "ben"): 1, ("key:1", None): 2}


def test_one_that_is_refused_after_all_were_told_is_kept_by_itself(rows):
    async def scenario():
        kept = Refused()
        for _ in range(2):
            await kept.note(refusal_of("anna"), limit="requests_per_day")
            await kept.close()

    asyncio.run(scenario())
    assert list(rows.times.values()) == [1, 1]


def test_how_many_there_were_is_told_when_their_minute_is_over(rows):
    now = [0.0]
    kept = Refused(lambda: now[0])

    def looked_at(seconds, *refusals):
        async def look():
            now[0] = seconds
            for one in refusals:
                await kept.note(one, limit="requests_per_day")
            await kept.look_after()

        asyncio.run(look())
        return [*rows.times.values()]

    assert looked_at(0.0, refusal_of("anna"), refusal_of("anna"), refusal_of("anna")) == [1]
    assert looked_at(59.9, refusal_of("ben"), refusal_of("ben")) == [1, 1]
    assert looked_at(60.0) == [3, 1]
    assert looked_at(61.0, refusal_of("anna")) == [3, 1, 1]
    assert looked_at(121.0) == [3, 2, 1]


def test_one_that_is_refused_while_the_others_are_told_is_told_next(rows, monkeypatch):
    now = [0.0]
    kept, tell = Refused(lambda: now[0]), rows.refuse_more

    async def note():
        await kept.note(refusal_of("anna"), limit="requests_per_day")

    async def tell_slowly(refusal, more):
        monkeypatch.setattr(rows, "refuse_more", tell)
        await note()
        await tell(refusal, more)

    async def scenario():
        for _ in range(3):
            await note()
        now[0] = 60.0
        for _ in range(3):
            await kept.look_after()
        await note()

    monkeypatch.setattr(rows, "refuse_more", tell_slowly)
    asyncio.run(scenario())
    assert list(rows.times.values()) == [4, 1]


def test_who_is_refused_is_not_told_that_nothing_can_be_kept(rows, monkeypatch):
    async def down(*_):
        raise DatabaseUnavailable

    monkeypatch.setattr(rows, "refuse", down)
    monkeypatch.setattr(rows, "refuse_more", down)
    noted(refusal_of("anna"), refusal_of("anna"))
