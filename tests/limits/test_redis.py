"""Workers count together over Redis; while it is away each counts alone, and nobody waits."""

import asyncio
from collections.abc import Awaitable, Callable
import logging
from typing import Any

import pytest
import redis.asyncio

from copilot_admin.limits import concurrency, redis_client
from copilot_admin.limits.concurrency import ConcurrencySlots
from copilot_admin.limits.rate_limits import RateLimits
from copilot_admin.limits.redis_client import KEY_PREFIX, REDIS_AWAY, LimitRedis
from tests.babbling import REPLIES, babbling
from tests.limits.limiting import SERVER, make_rule
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


def run(scenario: Callable[..., Awaitable[None]], *urls: str, flush: bool = False) -> None:
    async def play() -> None:
        if flush:
            async with redis.asyncio.Redis.from_url(REDIS_URL) as client:
                await client.flushdb()
        workers = [Worker(url) for url in urls]
        await scenario(*workers)
        for worker in workers:
            await worker.redis.close()

    asyncio.run(play())


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine isn't a Redis that is away."""
    monkeypatch.setattr(redis_client, "REDIS_TIMEOUT_SECONDS", 20.0)


@pytest.mark.redis
def test_two_workers_keep_every_limit_together(patient):
    slot, rate = make_rule(concurrent=20), make_rule(requests_per_minute=50)

    async def scenario(*workers: Worker) -> None:
        acquired = await asyncio.gather(*(workers[n % 2].acquire(str(n), slot) for n in range(100)))
        hits = await asyncio.gather(*(workers[n % 2].rates.hit(rate) for n in range(100)))
        assert (sum(acquired), sum(hits)) == (20, 50)
        assert await workers[0].slots.count(slot) == 20
        assert await workers[1].rates.count(rate) == 50
        assert await workers[0].rates.get_wait_seconds(rate) <= 60

    run(scenario, REDIS_URL, REDIS_URL, flush=True)


@pytest.mark.redis
def test_slots_are_taken_of_all_rules_or_of_none(patient):
    wide = make_rule(SERVER, concurrent=3)

    async def scenario(one: Worker, other: Worker) -> None:
        assert await one.acquire("a", SLOT, wide) and await other.acquire("b", SLOT, wide)
        assert await other.slots.acquire("c", (SLOT, wide)) == SLOT
        assert await one.slots.count(wide) == 2
        await one.release("a", SLOT, wide)
        assert await other.acquire("c", SLOT, wide)

    run(scenario, REDIS_URL, REDIS_URL, flush=True)


@pytest.mark.redis
def test_slots_of_a_dead_worker_expire_and_those_of_others_are_renewed(patient, monkeypatch):
    async def scenario(dead: Worker, other: Worker) -> None:
        monkeypatch.setattr(concurrency, "LEASE_SECONDS", 0)
        assert await dead.acquire("a")
        monkeypatch.setattr(concurrency, "LEASE_SECONDS", 30)
        assert await other.acquire("b") and await other.acquire("c")
        assert not await other.acquire("d")
        await other.release("b")
        await other.slots.renew()  # doesn't take the released slot again
        assert await other.slots.count(SLOT) == 1
        async with other.redis.connect() as client:
            keys = [key async for key in client.scan_iter(f"{KEY_PREFIX}*")]
            assert keys and all([await client.ttl(key) > 0 for key in keys])

    run(scenario, REDIS_URL, REDIS_URL, flush=True)


def test_without_redis_nothing_is_away():
    async def scenario(worker: Worker) -> None:
        await worker.redis.reconnect()
        await worker.slots.renew()
        assert await worker.acquire("a") and await worker.rates.hit(RATE)
        assert (await worker.slots.count(SLOT), await worker.rates.count(RATE)) == (1, 1)
        assert worker.redis.problem == ""

    run(scenario, "")


def test_each_worker_counts_alone_while_redis_is_away(caplog, monkeypatch):
    caplog.set_level(logging.WARNING, "copilot_admin.limits.redis_client")

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


@pytest.mark.redis
def test_redis_is_used_again_when_it_answers(patient, caplog):
    caplog.set_level(logging.WARNING, "copilot_admin.limits.redis_client")

    async def scenario(worker: Worker) -> None:
        await worker.acquire("a")
        await worker.redis.reconnect()
        assert worker.redis.problem == REDIS_AWAY
        worker.redis.url = REDIS_URL
        await worker.redis.close()
        await worker.redis.reconnect()
        assert worker.redis.problem == ""
        assert await worker.acquire("b")

    run(scenario, NOWHERE, flush=True)
    assert len(caplog.records) == 2


def test_slots_that_redis_gave_are_known_when_it_goes_away():
    async def scenario(worker: Worker) -> None:
        worker.slots._held["a"] = (SLOT,)
        worker.slots._taken[SLOT.subject] = 1
        assert await worker.acquire("b")
        assert not await worker.acquire("c")

    run(scenario, NOWHERE)


@pytest.mark.parametrize("reply", list(REPLIES.values())[:4], ids=list(REPLIES)[:4])
def test_a_redis_that_sends_nonsense_counts_as_away(reply: bytes, caplog):
    async def scenario(worker: Worker) -> None:
        assert await worker.acquire("a")
        await worker.redis.reconnect()
        assert worker.redis.problem == REDIS_AWAY
        worker.redis.forget()
        assert await worker.rates.hit(RATE)

    with babbling(reply) as url:
        run(scenario, url)


def test_a_redis_that_hangs_costs_no_more_than_its_timeout(monkeypatch):
    monkeypatch.setattr(redis_client, "REDIS_TIMEOUT_SECONDS", 0.01)

    class Hanging:
        async def eval(self, *_: object) -> int:
            return int(await asyncio.get_running_loop().create_future())

    async def scenario(worker: Worker) -> None:
        monkeypatch.setattr(worker.redis, "_get_client", Hanging)
        assert await worker.acquire("a")
        assert worker.redis.problem == REDIS_AWAY

    run(scenario, NOWHERE)
