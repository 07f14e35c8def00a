"""The counters of a process and those in Redis do the same."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import redis.asyncio

from copilot_admin.limits import process_counters, redis_counters
from copilot_admin.limits.demand import DemandAnswer
from copilot_admin.limits.process_counters import ProcessCounters
from copilot_admin.limits.redis_counters import PREFIX, RedisCounters
from copilot_admin.limits.subjects import LimitSubject
from copilot_admin.models import LimitScope
from tests.limits.limiting import FAR, SERVER, Clock, demand, rule, rules
from tests.services import REDIS_URL


@asynccontextmanager
async def in_process() -> AsyncIterator[ProcessCounters]:
    yield ProcessCounters(Clock())


@asynccontextmanager
async def in_redis() -> AsyncIterator[RedisCounters]:
    async with redis.asyncio.Redis.from_url(REDIS_URL) as client:
        await client.flushdb()
    counters = RedisCounters(REDIS_URL, seconds=20)
    try:
        yield counters
    finally:
        await counters.aclose()


@pytest.fixture(params=[in_process, pytest.param(in_redis, marks=pytest.mark.redis)])
def tried(request: pytest.FixtureRequest) -> Callable[[Any], None]:
    """Runs a scenario with counters of each kind."""

    def run(scenario: Any) -> None:
        async def play() -> None:
            async with request.param() as counters:
                await scenario(counters)

        asyncio.run(play())

    return run


TOKENS = rule(tokens_per_day=100)
DAILY, SEAT, WIDE_SEAT = rule(requests_per_day=3), rule(concurrent=2), rule(SERVER, concurrent=3)


def test_a_budget_that_nobody_knows_is_told_once_and_then_counted(tried):
    async def scenario(counters: Any) -> None:
        wanted = demand("a", TOKENS, DAILY, now=FAR)
        tokens, daily = wanted.budgets
        assert await counters.enter(wanted) == DemandAnswer(missing=(tokens, daily))
        await counters.begin({tokens: (40, 2), daily: (1, 0)})
        await counters.begin({tokens: (0, 0), daily: (0, 0)})  # another was faster
        assert await counters.enter(wanted) == DemandAnswer(used={TOKENS: 40, DAILY: 2})
        assert await counters.leave("a", seats=(), added={tokens.key: 59}) == {tokens.key: 99}
        assert await counters.enter(wanted) == DemandAnswer(used={TOKENS: 99, DAILY: 3})
        assert await counters.leave("a", seats=(), added={tokens.key: 5}) == {tokens.key: 104}
        assert await counters.enter(demand("b", TOKENS, now=FAR)) == DemandAnswer(full=TOKENS)

    tried(scenario)


def test_a_request_takes_from_all_of_its_limits_or_from_none(tried):
    async def scenario(counters: Any) -> None:
        wanted = demand("a", DAILY, SEAT, now=FAR)
        await counters.begin({wanted.budgets[0]: (0, 0)})
        for number, id in enumerate("ab", 1):
            entry = await counters.enter(demand(id, DAILY, SEAT, now=FAR))
            assert entry == DemandAnswer(used={DAILY: number, SEAT: number})
        assert await counters.enter(demand("c", DAILY, SEAT, now=FAR)) == DemandAnswer(full=SEAT)
        await counters.leave("a", seats=(SEAT,), added={})
        entry = await counters.enter(demand("c", DAILY, SEAT, now=FAR))
        assert entry == DemandAnswer(used={DAILY: 3, SEAT: 2})
        await counters.leave("b", seats=(SEAT,), added={})
        assert await counters.enter(demand("d", DAILY, SEAT, now=FAR)) == DemandAnswer(full=DAILY)

    tried(scenario)


def test_what_is_full_is_told_before_anything_is_looked_up(tried):
    async def scenario(counters: Any) -> None:
        for id in "ab":
            await counters.enter(demand(id, SEAT, now=FAR))
        assert await counters.enter(demand("c", TOKENS, SEAT, now=FAR)) == DemandAnswer(full=SEAT)
        wanted = demand("d", TOKENS, DAILY, now=FAR)
        await counters.begin({wanted.budgets[1]: (3, 0)})
        assert await counters.enter(wanted) == DemandAnswer(full=DAILY)

    tried(scenario)


def test_what_is_charged_to_a_counter_that_is_not_there_is_left_to_the_journal(tried):
    async def scenario(counters: Any) -> None:
        budget = demand("a", TOKENS, now=FAR).budgets[0]
        assert await counters.leave("a", seats=(), added={budget.key: 5}) == {}
        assert await counters.leave("a", seats=(), added={}) == {}
        assert await counters.enter(demand("a", TOKENS, now=FAR)) == DemandAnswer(missing=(budget,))

    tried(scenario)


def test_seats_are_of_everybody_that_a_request_belongs_to(tried):
    async def scenario(counters: Any) -> None:
        for id in "ab":
            await counters.enter(demand(id, SEAT, WIDE_SEAT))
        other = rule(LimitSubject(LimitScope.COPILOT, "4"), concurrent=2)
        assert await counters.enter(demand("c", other, WIDE_SEAT)) == DemandAnswer(
            used={other: 1, WIDE_SEAT: 3}
        )
        assert await counters.enter(demand("d", other, WIDE_SEAT)) == DemandAnswer(full=WIDE_SEAT)

    tried(scenario)


def test_a_rate_has_room_for_so_many_in_a_minute(tried):
    async def scenario(counters: Any) -> None:
        rate = rule(requests_per_minute=3)
        assert [await counters.hit(rate) for _ in range(4)] == [True, True, True, False]
        stats = await counters.rate(rate)
        assert stats.remaining == 0
        assert await counters.hit(rule(SERVER, requests_per_minute=3))

    tried(scenario)


def test_only_one_says_a_thing(tried):
    async def scenario(counters: Any) -> None:
        assert await counters.claim("a", seconds=60)
        is_alone = isinstance(counters, ProcessCounters)
        assert await counters.claim("a", seconds=60) is is_alone

    tried(scenario)


def test_a_minute_ends_to_the_moment():
    clock = Clock()
    counters = ProcessCounters(clock)
    rate = rule(requests_per_minute=2)

    async def scenario() -> None:
        began = clock.seconds
        assert await counters.hit(rate)
        clock.seconds = began + 30
        assert await counters.hit(rate)
        clock.seconds = began + 59.999
        assert not await counters.hit(rate)
        assert tuple(await counters.rate(rate)) == (began + 60, 0)
        clock.seconds = began + 60
        assert await counters.hit(rate)
        assert not await counters.hit(rate)
        clock.seconds = began + 90
        assert await counters.hit(rate)

    asyncio.run(scenario())


def test_a_clock_that_is_set_back_closes_no_rate_until_it_is_there_again():
    clock = Clock()
    counters = ProcessCounters(clock)
    rate = rule(requests_per_minute=2)

    async def scenario() -> None:
        assert await counters.hit(rate)
        assert await counters.hit(rate)
        clock.seconds -= 3600
        assert await counters.hit(rate)
        assert await counters.hit(rate)
        assert not await counters.hit(rate)

    asyncio.run(scenario())


def test_a_process_forgets_what_is_over():
    clock = Clock()
    counters = ProcessCounters(clock)
    wanted = demand("a", rule(tokens_per_minute=5))
    storage = counters._rates.storage

    async def scenario() -> None:
        await counters.begin({wanted.budgets[0]: (4, 0)})
        assert await counters.hit(rule(requests_per_minute=5))
        clock.seconds += 60
        assert await counters.enter(wanted) == DemandAnswer(missing=wanted.budgets)
        for number in range(1000):
            await counters.enter(demand(str(number)))
            await counters.hit(rule(SERVER, requests_per_minute=2000))

    asyncio.run(scenario())
    assert counters._used == {}
    assert [key.split("/")[1] for key in storage._hits] == ["server:"]


@pytest.mark.redis
def test_seats_of_a_worker_that_died_run_out(monkeypatch):
    async def scenario() -> None:
        async with in_redis() as dead, redis.asyncio.Redis.from_url(REDIS_URL) as client:
            key = f"{PREFIX}seats:{SEAT.subject.counter}"
            await dead.enter(demand("a", SEAT))
            await dead.enter(demand("b", SEAT))
            assert await dead.enter(demand("c", SEAT)) == DemandAnswer(full=SEAT)
            found: Any = await client.zrange(key, 0, -1, withscores=True)
            until = found[0][1]
            seconds, micros = await client.time()  # type: ignore[misc]
            assert (
                0 < until - (seconds * 1000 + micros / 1000) <= redis_counters.LEASE_SECONDS * 1000
            )
            # As if the lease had passed, while another worker renewed what it has.
            await client.zadd(key, {b"a": 1, b"b": 1})
            await dead.renew({"b": (SEAT,)})
            assert await dead.enter(demand("c", SEAT)) == DemandAnswer(used={SEAT: 2})
            assert await dead.enter(demand("d", SEAT)) == DemandAnswer(full=SEAT)
            assert sorted(await client.zrange(key, 0, -1)) == [b"b", b"c"]

    asyncio.run(scenario())


@pytest.mark.redis
def test_counters_in_redis_end_after_their_window():
    async def scenario() -> None:
        async with in_redis() as counters, redis.asyncio.Redis.from_url(REDIS_URL) as client:
            budget = demand("a", TOKENS, now=FAR).budgets[0]
            await counters.begin({budget: (1, 0)})
            ends = int(budget.window.ends.timestamp())
            assert await client.expiretime(PREFIX + budget.key) == ends + 3600

    asyncio.run(scenario())


def test_budgets_of_addresses_are_bounded_and_others_stay(monkeypatch):
    monkeypatch.setattr(process_counters, "_MOST_OF_ADDRESSES", 6)
    counters = ProcessCounters(Clock())
    addresses = [LimitSubject(LimitScope.ADDRESS, f"2001:db8:0:{number}::") for number in range(5)]
    kept = demand("a", *rules(SERVER, tokens_per_month=9)).budgets
    theirs = [demand("a", *rules(one, tokens_per_month=9)).budgets for one in addresses]

    async def scenario() -> None:
        for budgets in (kept, *theirs):
            await counters.begin({budgets[0]: (1, 0)})

    asyncio.run(scenario())
    keys = [budgets[0].key for budgets in (kept, *theirs)]
    assert list(counters.known(keys)) == [keys[0], *keys[-3:]]


@pytest.mark.redis
def test_nothing_in_redis_names_a_user_or_an_address():
    canary, address = "canary-5d1e", "192.0.2.77"
    limits = {"concurrent": 9, "requests_per_minute": 9, "requests_per_day": 9, "usd_per_month": 9}
    subjects = (LimitSubject(LimitScope.USER, canary), LimitSubject(LimitScope.ADDRESS, address))
    some = [one for subject in subjects for one in rules(subject, **limits)]

    async def scenario() -> list[bytes]:
        async with in_redis() as counters, redis.asyncio.Redis.from_url(REDIS_URL) as client:
            wanted = demand("a", *some, now=FAR)
            await counters.begin(dict.fromkeys(wanted.budgets, (1, 0)))
            assert (await counters.enter(wanted)).used
            for rate in wanted.rates:
                await counters.hit(rate)
            return [key async for key in client.scan_iter(f"{PREFIX}*")]

    keys = asyncio.run(scenario())
    assert len(keys) == 2 * 6  # seats, a rate, and two budgets with what is of unknown cost
    assert not [key for key in keys if canary.encode() in key or address.encode() in key]
