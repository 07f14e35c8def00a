"""A budget that is taken away and set again knows what was used in between."""

import asyncio
from typing import Any

from asgiref.sync import async_to_sync
import pytest
import redis.asyncio

from copilot_admin.limits.book import BOOK
from copilot_admin.limits.counting import COUNTING
from copilot_admin.limits.redis_counters import PREFIX, RedisCounters
from copilot_admin.limits.subjects import LimitSubject
from copilot_admin.limits.taken_away import forget, taken_away
from copilot_admin.models import LimitScope, SubjectLimits
from tests.factories import make_copilot
from tests.limits.limiting import FAR, SERVER, ask, demand, rules
from tests.limits.test_admission import refused, used_by
from tests.services import REDIS_URL

ANNA, EVERY_USER = LimitSubject(LimitScope.USER, "anna"), LimitSubject(LimitScope.USER)


def test_only_lasting_budgets_that_are_gone_are_forgotten_and_none_of_an_address():
    before: dict[LimitSubject, dict[str, Any]] = {
        SERVER: {"tokens_per_day": 9, "requests_per_day": 9, "usd_per_month": 1},
        LimitSubject(LimitScope.COPILOT, "3"): {"concurrent": 2, "requests_per_minute": 3},
        LimitSubject(LimitScope.ADDRESS, "192.0.2.7"): {"tokens_per_day": 9},
        EVERY_USER: {"tokens_per_month": 9},
        ANNA: {"tokens_per_month": 9},
    }
    after: dict[LimitSubject, dict[str, Any]] = {SERVER: {"tokens_per_day": 8}, ANNA: {}}
    assert taken_away(before, after) == {
        "budget:server::requests_per_day:*",
        "budget:server::usd_per_month:*",
        "budget:user:*:tokens_per_month:*",
        f"budget:{ANNA.counter}:tokens_per_month:*",
    }
    assert taken_away({}, before) == taken_away(before, before) == frozenset()


@pytest.mark.django_db(transaction=True)
def test_what_was_used_while_there_was_no_budget_is_in_it_when_it_is_set_again():
    copilot = make_copilot(limits={"tokens_per_day": 100})
    BOOK.read()
    async_to_sync(ask)("a", copilot_id=copilot.pk)
    for limits in ({}, {"tokens_per_day": 100}):
        used_by(copilot, tokens=60)
        type(copilot).objects.update(limits=limits)
        async_to_sync(BOOK.look_after)()
    assert refused(id="b", copilot_id=copilot.pk).rule.kind.key == "tokens_per_day"


@pytest.mark.django_db(transaction=True)
def test_what_redis_could_not_be_told_is_told_the_next_time(settings, caplog, monkeypatch):
    SubjectLimits.objects.create(scope=LimitScope.SERVER, limits={"tokens_per_day": 100})
    BOOK.read()
    SubjectLimits.objects.all().delete()
    settings.REDIS_URL = "redis://127.0.0.1:1/0"  # nobody listens there
    async_to_sync(BOOK.look_after)()
    told: list[frozenset[str]] = []
    monkeypatch.setattr("copilot_admin.limits.book.forget", lambda some: told.append(some) or True)
    for _ in range(2):
        async_to_sync(BOOK.look_after)()
    assert told == [{"budget:server::tokens_per_day:*"}]
    assert caplog.messages == ["budgets that were taken away are forgotten later: ConnectionError"]


@pytest.mark.redis
def test_redis_forgets_what_is_meant_and_nothing_else(settings):
    settings.REDIS_URL = REDIS_URL
    limits = {"tokens_per_day": 9, "tokens_per_month": 9}
    subjects = (SERVER, ANNA, LimitSubject(LimitScope.USER, "ben"))
    budgets = demand(
        "a", *(one for who in subjects for one in rules(who, **limits)), now=FAR
    ).budgets
    used = dict.fromkeys(budgets, (5, 1))

    async def begin() -> None:
        async with redis.asyncio.Redis.from_url(REDIS_URL) as client:
            await client.flushdb()
        counters = RedisCounters(REDIS_URL, seconds=20)
        await counters.begin(used)
        await COUNTING.own.begin(used)
        await counters.aclose()

    async def left() -> set[str]:
        async with redis.asyncio.Redis.from_url(REDIS_URL) as client:
            return {key.decode().removeprefix(PREFIX) async for key in client.scan_iter()}

    asyncio.run(begin())
    assert forget(taken_away({EVERY_USER: {"tokens_per_day": 9}, SERVER: limits}, {SERVER: {}}))
    kept = {one.key for one in budgets if one.rule.kind.key == "tokens_per_month"}
    kept = {key for key in kept if key.startswith("budget:user")}
    assert asyncio.run(left()) == kept | {f"{key}:unpriced" for key in kept}
    assert set(COUNTING.own.known([one.key for one in budgets])) == kept
