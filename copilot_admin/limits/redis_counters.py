"""Counters that all workers share, in Redis: one round trip when a request comes, one when it ends.

A rate is one more, by the library that keeps moving windows. Seats are leased: those of a worker that
died run out.
"""

from collections.abc import Collection, Mapping

from limits.aio.storage import RedisStorage
from limits.aio.strategies import MovingWindowRateLimiter
from limits.util import WindowStats
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import InvalidResponse

from copilot_admin.limits.demand import Budget, Demand, DemandAnswer, rate_item, seat_key
from copilot_admin.limits.rules import LimitRule

PREFIX = "copilot-limits:"
LEASE_SECONDS = 30  # six renewals: a worker that is busy for some seconds keeps its seats
_KEPT_AFTER = 3600  # seconds: an answer that outlives its window is still added to it
_RENEWED_AT_ONCE = 500
_MOST_CONNECTIONS = 32  # of an event loop; a round trip takes a fraction of a millisecond

_NOW = "local t = redis.call('TIME'); local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"
# KEYS: budgets, then seats. ARGV: number of budgets, id, milliseconds of a lease, then most and takes
# of each budget, and most of each seat. Says what it was and the numbers used of all. What is full is
# said first: of a rush that finds no seats nobody has to look up what each of them has used.
_ENTER = (
    _NOW
    + """
local budgets = tonumber(ARGV[1])
local used, missing = {}, {'missing'}
for i = 1, budgets do
  local found = redis.call('GET', KEYS[i])
  if not found then missing[#missing + 1] = i end
  used[i] = tonumber(found)
end
for i = 1, budgets do
  if used[i] and used[i] >= tonumber(ARGV[2 + 2 * i]) then return {'full', i} end
end
for i = budgets + 1, #KEYS do
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now)
  used[i] = redis.call('ZCARD', KEYS[i])
  if used[i] >= tonumber(ARGV[3 + budgets + i]) then return {'full', i} end
end
if #missing > 1 then return missing end
for i = 1, budgets do
  local takes = tonumber(ARGV[3 + 2 * i])
  if takes > 0 then used[i] = redis.call('INCRBY', KEYS[i], takes) end
end
for i = budgets + 1, #KEYS do
  redis.call('ZADD', KEYS[i], now + ARGV[3], ARGV[2])
  redis.call('PEXPIRE', KEYS[i], 2 * ARGV[3])
  used[i] = used[i] + 1
end
return {'in', unpack(used)}
"""
)
# KEYS: seats, then counters. ARGV: number of seats, id, then what is added to each counter.
_LEAVE = """
local seats, used = tonumber(ARGV[1]), {}
for i = 1, seats do redis.call('ZREM', KEYS[i], ARGV[2]) end
for i = seats + 1, #KEYS do
  local there = redis.call('EXISTS', KEYS[i]) == 1
  used[i - seats] = there and redis.call('INCRBY', KEYS[i], ARGV[2 + i - seats])
end
return used
"""
# KEYS: seats. ARGV: milliseconds of a lease, then who has each.
_RENEW = (
    _NOW
    + """
for i = 1, #KEYS do
  redis.call('ZADD', KEYS[i], now + ARGV[1], ARGV[1 + i])
  redis.call('PEXPIRE', KEYS[i], 2 * ARGV[1])
end
"""
)


class RedisCounters:
    """What is used, in Redis; belongs to the event loop that made it.

    Args:
        url: Of the Redis.
        seconds: That one answer of it may take.
    """

    def __init__(self, url: str, *, seconds: float) -> None:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=_MOST_CONNECTIONS,
            timeout=seconds,
            socket_timeout=seconds,
            socket_connect_timeout=seconds,
            retry=Retry(NoBackoff(), 1),  # a connection that idled may have been closed
        )
        self._pool = pool
        self._redis: Redis = Redis(connection_pool=pool)
        storage = RedisStorage(
            f"async+{url}",
            implementation="redispy",
            key_prefix=f"{PREFIX}rate",
            connection_pool=pool,  # type: ignore[arg-type]  # its options are typed too narrowly
        )
        self._rates = MovingWindowRateLimiter(storage)
        self._enter = self._redis.register_script(_ENTER)
        self._leave = self._redis.register_script(_LEAVE)
        self._renew = self._redis.register_script(_RENEW)

    async def enter(self, demand: Demand) -> DemandAnswer:
        """Takes what a request takes by beginning, if there is room for all of it."""
        rules = [*(one.rule for one in demand.budgets), *demand.seats]
        if not rules:
            return DemandAnswer()
        keys = [one.key for one in demand.budgets] + [seat_key(one) for one in demand.seats]
        numbers = [number for one in demand.budgets for number in (one.rule.most, one.takes)]
        numbers += [rule.most for rule in demand.seats]
        said = await self._enter(
            keys=[PREFIX + key for key in keys],
            args=[len(demand.budgets), demand.id, LEASE_SECONDS * 1000, *numbers],
        )
        match said:
            case [b"missing", *indexes]:
                return DemandAnswer(missing=tuple(demand.budgets[index - 1] for index in indexes))
            case [b"full", index]:
                return DemandAnswer(full=rules[index - 1])
            case [b"in", *used]:
                return DemandAnswer(used=dict(zip(rules, used, strict=True)))
            case _:
                raise InvalidResponse("no reply to what was asked")

    async def leave(
        self, id: str, *, seats: Collection[LimitRule], added: Mapping[str, int]
    ) -> Mapping[str, int]:
        """Gives seats back and adds to budgets that are known; says what is used of those."""
        keys = [*map(seat_key, seats), *added]
        if not keys:
            return {}
        said = await self._leave(
            keys=[PREFIX + key for key in keys], args=[len(seats), id, *added.values()]
        )
        return {key: used for key, used in zip(added, said, strict=True) if used is not None}

    async def begin(self, used: Mapping[Budget, tuple[int, int]]) -> None:
        """Tells what was used of budgets, and how many answers nobody knows the cost of."""
        async with self._redis.pipeline(transaction=False) as pipeline:
            for budget, (number, unpriced) in used.items():
                until = int(budget.window.ends.timestamp()) + _KEPT_AFTER
                pipeline.set(PREFIX + budget.unpriced_key, unpriced, nx=True, exat=until)
                pipeline.set(PREFIX + budget.key, number, nx=True, exat=until)
            await pipeline.execute()

    async def hit(self, rule: LimitRule) -> bool:
        """Counts a request of a rate, if there is room."""
        return await self._rates.hit(rate_item(rule), rule.subject.counter)

    async def rate(self, rule: LimitRule) -> WindowStats:
        """When a rate has room again, and how much there is."""
        return await self._rates.get_window_stats(rate_item(rule), rule.subject.counter)

    async def claim(self, key: str, *, seconds: int) -> bool:
        """Whether this is the first of all workers to say something."""
        return bool(await self._redis.set(f"{PREFIX}said:{key}", 1, nx=True, ex=seconds))

    async def renew(self, seats: Mapping[str, Collection[LimitRule]]) -> None:
        """Keeps the seats of this process for another while."""
        held = [(PREFIX + seat_key(rule), id) for id, rules in seats.items() for rule in rules]
        for first in range(0, len(held), _RENEWED_AT_ONCE):
            some = held[first : first + _RENEWED_AT_ONCE]
            await self._renew(
                keys=[key for key, _ in some], args=[LEASE_SECONDS * 1000, *(id for _, id in some)]
            )

    async def ping(self) -> None:
        """Asks whether it is there.

        Raises:
            InvalidResponse: Something else answers.
        """
        if not await self._redis.ping():
            raise InvalidResponse("no reply to what was asked")

    async def aclose(self) -> None:
        """Closes its connections."""
        await self._pool.aclose()
