"""Workers count together over Redis; without it each counts alone, and nobody waits or is lost."""

import asyncio
from collections.abc import Callable
import logging
from typing import Any

import pytest
import redis.asyncio
from redis.exceptions import ConnectionError as RedisAway

from copilot_admin.limits import counting
from copilot_admin.limits.counting import AWAY, Counting
from copilot_admin.limits.demand import DemandAnswer
from copilot_admin.limits.redis_counters import RedisCounters
from tests.babbling import REPLIES, babbling
from tests.limits.limiting import FAR, demand, rule
from tests.services import REDIS_URL

SEAT, RATE, TOKENS = rule(concurrent=2), rule(requests_per_minute=3), rule(tokens_per_day=100)


class Away:
    """A Redis that does not answer, until it does."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.is_there = False
        self.asked: list[str] = []
        self.told: list[Any] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def ask(*args: Any, **options: Any) -> Any:
            self.asked.append(name)
            if not self.is_there:
                raise RedisAway("redis://:secret@there")
            self.told.append((name, args, options))

        return ask


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch) -> Away:
    shared = Away()
    monkeypatch.setattr(counting, "RedisCounters", lambda *_, **__: shared)
    return shared


def test_without_redis_nothing_is_away():
    async def scenario() -> None:
        counts = Counting("")
        await counts.look_after()
        assert (await counts.enter(demand("a", SEAT))).used == {SEAT: 1}
        assert (counts.problem, await counts.hit(RATE)) == ("", True)
        assert (await counts.rate(RATE)).remaining == 2
        await counts.close()

    asyncio.run(scenario())


def test_a_redis_that_is_away_is_asked_once_and_then_by_housekeeping(away, caplog):
    caplog.set_level(logging.WARNING, "copilot_admin.limits.counting")

    async def scenario() -> None:
        counts = Counting("redis://there")
        [budget] = demand("a", TOKENS).budgets
        assert (await counts.enter(demand("a", SEAT))).used == {SEAT: 1}
        assert counts.problem == AWAY
        assert (await counts.enter(demand("b", SEAT))).used == {SEAT: 2}
        assert await counts.enter(demand("c", SEAT)) == DemandAnswer(full=SEAT)
        assert await counts.hit(RATE)
        assert await counts.claim("x", seconds=5)
        await counts.begin({budget: (10, 0)})
        assert await counts.leave("a", seats=(SEAT,), added={budget.key: 7}) == {budget.key: 17}
        assert away.asked == ["enter"]
        await counts.look_after()
        assert (away.asked, counts.problem) == (["enter", "ping"], AWAY)

        away.is_there = True
        await counts.look_after()
        assert counts.problem == ""
        assert away.told == [
            ("ping", (), {}),
            ("renew", ({"b": (SEAT,)},), {}),
            ("leave", ("",), {"seats": (), "added": {budget.key: 7}}),
        ]
        await counts.look_after()
        assert [name for name, *_ in away.told[3:]] == ["ping", "renew"]
        await counts.close()

    asyncio.run(scenario())
    assert [record.getMessage() for record in caplog.records] == [
        f"Redis does not answer (ConnectionError): {AWAY}",
        "Redis answers again: limits are counted for all workers together",
    ]


def test_what_could_not_be_told_at_the_return_is_told_the_next_time(away):
    async def scenario() -> None:
        counts = Counting("redis://there")
        await counts.leave("a", seats=(), added={"k": 7})
        away.is_there = True
        shared: Any = counts._of_this_loop()
        leave, failing = shared.leave, AsyncFailure()
        shared.leave = failing
        await counts.look_after()
        assert counts.problem == AWAY
        shared.leave = leave
        await counts.look_after()
        assert away.told[-1] == ("leave", ("",), {"seats": (), "added": {"k": 7}})
        assert counts.problem == ""

    asyncio.run(scenario())


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
def test_a_redis_that_talks_nonsense_is_as_one_that_is_away(reply: bytes, caplog) -> None:
    """Each question was answered with 500, and each answer broke off at its end."""
    caplog.set_level(logging.WARNING, "copilot_admin.limits.counting")

    async def scenario() -> None:
        [budget] = demand("a", TOKENS).budgets
        for first in ("enter", "hit", "rate", "leave", "begin", "look_after"):
            counts = Counting(url)
            match first:
                case "hit":
                    await counts.hit(RATE)
                case "rate":
                    await counts.rate(RATE)
                case "leave":
                    await counts.leave("a", seats=(SEAT,), added={budget.key: 7})
                case "begin":
                    await counts.begin({budget: (10, 0)})
                case "look_after":
                    await counts.look_after()
            assert (await counts.enter(demand("a", SEAT))).used == {SEAT: 1}
            await counts.look_after()
            assert counts.problem == AWAY
            await counts.close()

    with babbling(reply) as url:
        asyncio.run(scenario())
    assert {record.levelname for record in caplog.records} == {"ERROR"}  # it never answers again
    assert {record.exc_info for record in caplog.records} == {None}


@pytest.mark.redis
def test_whoever_leaves_while_seats_are_renewed_keeps_none():
    """His seat was taken for half a minute although he had gone."""

    async def scenario() -> None:
        async with redis.asyncio.Redis.from_url(REDIS_URL) as client:
            await client.flushdb()
        counts = Counting(REDIS_URL)
        shared = counts._shared[asyncio.get_running_loop()] = RedisCounters(REDIS_URL, seconds=20)
        renew = shared.renew

        async def left_before(seats: Any) -> None:
            await counts.leave("a", seats=(SEAT,), added={})
            await renew(seats)

        shared.renew = left_before  # type: ignore[method-assign]
        for id in "ab":
            assert (await counts.enter(demand(id, SEAT))).full is None
        await counts.look_after()
        assert (await counts.enter(demand("c", SEAT))).used == {SEAT: 2}
        await counts.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "SECONDS", 20)
        asyncio.run(scenario())


class AsyncFailure:
    async def __call__(self, *_: Any, **__: Any) -> None:
        raise TimeoutError


def test_a_redis_that_hangs_costs_no_more_than_its_time(monkeypatch):
    class Hanging(Away):
        async def enter(self, wanted: Any) -> Any:
            await asyncio.get_running_loop().create_future()

    monkeypatch.setattr(counting, "RedisCounters", Hanging)
    monkeypatch.setattr(counting, "SECONDS", 0.0)

    async def scenario() -> None:
        counts = Counting("redis://there")
        assert (await counts.enter(demand("a", SEAT))).used == {SEAT: 1}
        assert counts.problem == AWAY

    asyncio.run(scenario())


def test_seats_that_redis_gave_are_known_here_when_it_goes_away(away):
    async def scenario() -> None:
        counts = Counting("redis://there")
        away.is_there = True

        async def let_in(wanted: Any) -> DemandAnswer:
            return DemandAnswer(used={SEAT: 1})

        shared: Any = counts._of_this_loop()
        shared.enter = let_in
        await counts.enter(demand("a", SEAT))
        await counts.enter(demand("b", SEAT))
        del shared.enter
        away.is_there = False
        assert await counts.enter(demand("c", SEAT)) == DemandAnswer(full=SEAT)
        counts.abandon("a", (SEAT,))
        assert (await counts.enter(demand("c", SEAT))).used == {SEAT: 2}

    asyncio.run(scenario())


def test_redis_is_told_at_once_of_a_seat_that_nobody_wants(away):
    async def scenario() -> None:
        counts = Counting("redis://there")
        away.is_there = True
        counts.abandon("a", (SEAT,))
        counts.abandon("b", ())
        await asyncio.gather(*counts._giving_back)
        assert away.told == [("leave", ("a",), {"seats": (SEAT,), "added": {}})]
        assert not counts._giving_back

    asyncio.run(scenario())


@pytest.mark.redis
def test_two_workers_over_redis_hold_every_limit():
    """Each lets in what there is room for, and both together not one more."""
    seat, rate, daily = rule(concurrent=20), rule(requests_per_minute=50), rule(requests_per_day=70)

    async def scenario() -> None:
        async with redis.asyncio.Redis.from_url(REDIS_URL) as client:
            await client.flushdb()
        workers = [Counting(REDIS_URL), Counting(REDIS_URL)]
        for one in workers:  # a busy machine is no Redis that is away
            one._shared[asyncio.get_running_loop()] = RedisCounters(REDIS_URL, seconds=20)
        [budget] = demand("", daily, now=FAR).budgets
        await workers[0].begin({budget: (0, 0)})

        async def enters(number: int) -> bool:
            entry = await workers[number % 2].enter(demand(str(number), seat))
            return entry.full is None

        async def hits(number: int) -> bool:
            return await workers[number % 2].hit(rate)

        async def takes(number: int) -> bool:
            return (
                await workers[number % 2].enter(demand(str(number), daily, now=FAR))
            ).full is None

        for act, most in ((enters, 20), (hits, 50), (takes, 70)):
            assert sum(await asyncio.gather(*map(act, range(100)))) == most
        for one in workers:
            await one.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "SECONDS", 20)
        asyncio.run(scenario())
