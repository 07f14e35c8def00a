"""Workers count together over Redis; while it is away each counts alone, and nobody waits."""

import asyncio
from collections.abc import Awaitable, Callable
import logging
from typing import Any
from uuid import uuid4

import pytest

from copilot_admin.limits import counters
from copilot_admin.limits.counters import (
    KEY_PREFIX,
    REDIS_AWAY,
    ConcurrencySlots,
    LimitRedis,
    RateLimits,
)
from copilot_admin.limits.rules import LimitRule, LimitSubject
from copilot_admin.models import LimitScope
from tests.limits.limiting import make_rule
from tests.services import REDIS_URL

SLOT, RATE = make_rule(concurrent=2), make_rule(requests_per_minute=3)
NOWHERE = "redis://:secret@127.0.0.1:1/0"


class Worker:
    """One process with its counters."""

    def __init__(self, url: str) -> None:
        self.redis = LimitRedis(url)
        self.slots, self.rates = ConcurrencySlots(self.redis), RateLimits(self.redis)

    async def acquire(self, id: str, *rules: Any) -> bool:
        return await self.slots.acquire(id, rules or (SLOT,)) is None

    async def release(self, id: str, *rules: Any) -> None:
        await self.slots.release(id, rules or (SLOT,))


def make_fresh_rule(**limits: int) -> LimitRule:
    """A rule of a subject that nothing else in this Redis counts."""
    return make_rule(LimitSubject(LimitScope.COPILOT, uuid4().hex), **limits)


def run(scenario: Callable[..., Awaitable[None]], *urls: str) -> None:
    async def play() -> None:
        workers = [Worker(url) for url in urls]
        await scenario(*workers)
        for worker in workers:
            await worker.redis.close()

    asyncio.run(play())


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine isn't a Redis that is away."""
    monkeypatch.setattr(counters, "REDIS_TIMEOUT_SECONDS", 20.0)


@pytest.mark.redis
def test_two_workers_keep_every_limit_together(patient):
    slot, rate = make_fresh_rule(concurrent=20), make_fresh_rule(requests_per_minute=50)

    async def scenario(*workers: Worker) -> None:
        acquired = await asyncio.gather(*(workers[n % 2].acquire(str(n), slot) for n in range(100)))
        hits = await asyncio.gather(*(workers[n % 2].rates.hit(rate) for n in range(100)))
        assert (sum(acquired), sum(hits)) == (20, 50)
        assert await workers[0].slots.count(slot) == 20
        assert await workers[1].rates.count(rate) == 50
        assert await workers[0].rates.get_wait_seconds(rate) <= 60

    run(scenario, REDIS_URL, REDIS_URL)


@pytest.mark.redis
def test_slots_are_taken_of_all_rules_or_of_none(patient):
    slot, wide = make_fresh_rule(concurrent=2), make_fresh_rule(concurrent=3)

    async def scenario(one: Worker, other: Worker) -> None:
        assert await one.acquire("a", slot, wide) and await other.acquire("b", slot, wide)
        assert await other.slots.acquire("c", (slot, wide)) == slot
        assert await one.slots.count(wide) == 2
        await one.release("a", slot, wide)
        assert await other.acquire("c", slot, wide)

    run(scenario, REDIS_URL, REDIS_URL)


@pytest.mark.redis
def test_slots_of_a_dead_worker_expire_and_those_of_others_are_renewed(patient, monkeypatch):
    slot = make_fresh_rule(concurrent=2)

    async def scenario(dead: Worker, other: Worker) -> None:
        monkeypatch.setattr(counters, "LEASE_SECONDS", 0)
        assert await dead.acquire("a", slot)
        monkeypatch.setattr(counters, "LEASE_SECONDS", 30)
        assert await other.acquire("b", slot) and await other.acquire("c", slot)
        assert not await other.acquire("d", slot)
        await other.release("b", slot)
        await other.slots.renew()  # doesn't take the released slot again
        assert await other.slots.count(slot) == 1
        async with other.redis.connect() as client:
            assert 0 < await client.ttl(f"{KEY_PREFIX}slots:{slot.subject.name}") <= 60

    run(scenario, REDIS_URL, REDIS_URL)


def test_each_worker_counts_alone_while_redis_is_away(caplog, monkeypatch):
    caplog.set_level(logging.WARNING, "copilot_admin.limits.counters")

    async def scenario(worker: Worker) -> None:
        assert await worker.acquire("a") and await worker.acquire("b")
        assert worker.redis.problem == REDIS_AWAY
        monkeypatch.setattr(worker.redis, "_get_client", pytest.fail)  # it isn't asked again
        assert not await worker.acquire("c")
        assert [await worker.rates.hit(RATE) for _ in range(4)] == [True, True, True, False]
        await worker.slots.renew()
        await worker.release("a")
        assert await worker.acquire("c")

    run(scenario, NOWHERE)
    assert [record.getMessage() for record in caplog.records] == [
        f"Redis does not answer (ConnectionError): {REDIS_AWAY}"
    ]


@pytest.mark.parametrize(("url", "problem"), [(NOWHERE, REDIS_AWAY), ("", "")])
def test_a_server_without_requests_notices_that_redis_is_away(url, problem):
    async def scenario(worker: Worker) -> None:
        await worker.redis.check()
        assert worker.redis.problem == problem

    run(scenario, url)


@pytest.mark.redis
def test_redis_is_used_again_when_it_answers(patient, caplog):
    caplog.set_level(logging.WARNING, "copilot_admin.limits.counters")

    async def scenario(worker: Worker) -> None:
        await worker.acquire("a")
        await worker.redis.check()
        assert worker.redis.problem == REDIS_AWAY
        worker.redis.url = REDIS_URL
        await worker.redis.close()
        await worker.redis.check()
        assert worker.redis.problem == ""
        assert await worker.acquire("b", make_fresh_rule(concurrent=2))

    run(scenario, NOWHERE)
    assert len(caplog.records) == 2


def test_a_redis_that_hangs_costs_no_more_than_its_timeout(monkeypatch):
    monkeypatch.setattr(counters, "REDIS_TIMEOUT_SECONDS", 0.01)

    class Hanging:
        async def eval(self, *_: object) -> int:
            return int(await asyncio.get_running_loop().create_future())

    async def scenario(worker: Worker) -> None:
        monkeypatch.setattr(worker.redis, "_get_client", Hanging)
        assert await worker.acquire("a")
        assert worker.redis.problem == REDIS_AWAY

    run(scenario, NOWHERE)
