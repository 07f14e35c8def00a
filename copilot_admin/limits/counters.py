"""Counters of rate and concurrency limits: in Redis for all workers, otherwise in this process.

No request waits for a Redis that is away: the first to notice waits for two seconds, the others not
at all, and a periodic task tries again.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
import logging
from math import floor
from typing import TypeVar, cast
from weakref import WeakKeyDictionary

from django.conf import settings
from limits.aio.storage import MemoryStorage, RedisStorage
from redis.asyncio import Redis
from redis.exceptions import RedisError

from copilot_admin.limits.rules import LimitRule

KEY_PREFIX = "copilot-limits:"
REDIS_TIMEOUT_SECONDS = 2.0  # an answer takes a fraction of a millisecond; a busy loop sees it late
REDIS_AWAY = "limits are counted by each worker alone: Redis does not answer"
logger = logging.getLogger(__name__)
T = TypeVar("T")
_SECONDS = 60  # of a rate
LEASE_SECONDS = 30  # six renewals: a worker that is busy for some seconds keeps its slots
# KEYS: one sorted set of leases for each rule. ARGV: request id, lease in milliseconds, each maximum.
# Returns the number of the rule that is full, or 0 after taking a slot of each.
_ACQUIRE = """
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
for i = 1, #KEYS do
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now)
  if redis.call('ZCARD', KEYS[i]) >= tonumber(ARGV[2 + i]) then return i end
end
for i = 1, #KEYS do
  redis.call('ZADD', KEYS[i], now + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', KEYS[i], 2 * ARGV[2])
end
return 0
"""


class RedisUnavailable(Exception):
    """There is no Redis, or it does not answer."""


class LimitRedis:
    """Redis clients, one for each event loop."""

    def __init__(self, url: str) -> None:  # "" if there is no Redis
        self.url = url
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Redis] = WeakKeyDictionary()
        self.problem = ""  # reason why limits may be exceeded at the moment

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Redis]:
        if not self.url or self.problem:
            raise RedisUnavailable
        try:
            async with asyncio.timeout(REDIS_TIMEOUT_SECONDS):
                yield self._get_client()
        except (RedisError, OSError, ValueError) as error:
            if not self.problem:
                self.problem = REDIS_AWAY
                # Only the class: the message quotes the URL, which may have a password.
                reason = type(error).__name__
                logger.error("Redis does not answer (%s): %s", reason, REDIS_AWAY)  # noqa: TRY400
            raise RedisUnavailable from None

    async def check(self) -> None:
        """Notice that Redis is away, or use it again if it answers; a periodic task."""
        if not self.problem:
            with suppress(RedisUnavailable):
                async with self.connect() as redis:
                    await redis.ping()
            return
        with suppress(RedisError, OSError, ValueError):
            async with asyncio.timeout(REDIS_TIMEOUT_SECONDS):
                await self._get_client().ping()
            self.problem = ""
            logger.warning("Redis answers again: limits are counted for all workers together")

    async def close(self) -> None:
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    def _get_client(self) -> Redis:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = Redis.from_url(
                self.url,
                socket_timeout=REDIS_TIMEOUT_SECONDS,
                socket_connect_timeout=REDIS_TIMEOUT_SECONDS,
            )
        return self._clients[loop]


class ConcurrencySlots:
    """Slots of running answers, by the id of the request that holds them.

    A slot in Redis is a lease that its worker renews, so the slots of a crashed worker expire. Slots
    that were taken while Redis was away aren't added to it later.
    """

    def __init__(self, redis: LimitRedis) -> None:
        self._redis = redis
        self._held: dict[str, tuple[LimitRule, ...]] = {}

    async def acquire(self, id: str, rules: tuple[LimitRule, ...]) -> LimitRule | None:
        """Take a slot of each rule, or none; return the rule that is full."""
        if not rules:
            return None
        try:
            async with self._redis.connect() as client:
                keys, maxima = map(_get_key, rules), (rule.maximum for rule in rules)
                lease = LEASE_SECONDS * 1000
                evaluated = client.eval(_ACQUIRE, len(rules), *keys, id, lease, *maxima)
                number = int(await cast("Awaitable[int]", evaluated))
                full = rules[number - 1] if number else None
        except RedisUnavailable:
            full = next((rule for rule in rules if self._count_own(rule) >= rule.maximum), None)
        if full is None:
            self._held[id] = rules
        return full

    async def release(self, id: str, rules: tuple[LimitRule, ...]) -> None:
        """Give the slots of a request back, also those that Redis may have given unnoticed."""
        self._held.pop(id, None)
        if rules:
            with suppress(RedisUnavailable):
                async with self._redis.connect() as client, client.pipeline() as pipeline:
                    for rule in rules:
                        pipeline.zrem(_get_key(rule), id)
                    await pipeline.execute()

    async def renew(self) -> None:
        """Extend the leases of this process; a periodic task."""
        if not self._held:
            return
        with suppress(RedisUnavailable):
            async with self._redis.connect() as client, client.pipeline() as pipeline:
                seconds, _microseconds = await client.time()
                for id, rules in self._held.items():
                    for rule in rules:
                        key, until = _get_key(rule), (seconds + LEASE_SECONDS) * 1000
                        pipeline.zadd(key, {id: until}, xx=True)  # a released slot stays so
                        pipeline.pexpire(key, 2 * LEASE_SECONDS * 1000)
                await pipeline.execute()

    async def count(self, rule: LimitRule) -> int:
        try:
            async with self._redis.connect() as client:
                seconds, _microseconds = await client.time()
                return int(await client.zcount(_get_key(rule), seconds * 1000, "+inf"))
        except RedisUnavailable:
            return self._count_own(rule)

    def _count_own(self, rule: LimitRule) -> int:
        return sum(rule.subject == one.subject for held in self._held.values() for one in held)


def _get_key(rule: LimitRule) -> str:
    return f"{KEY_PREFIX}slots:{rule.subject.name}"


class RateLimits:
    """Sliding windows in Redis, or in this process."""

    def __init__(self, redis: LimitRedis) -> None:
        self._redis = redis
        self._memory = MemoryStorage()
        self._shared: WeakKeyDictionary[Redis, RedisStorage] = WeakKeyDictionary()

    async def hit(self, rule: LimitRule) -> bool:
        """Count a request; return False if the rate is exceeded."""
        key = (rule.subject.name, rule.maximum, _SECONDS)
        return await self._use(lambda windows: windows.acquire_sliding_window_entry(*key))

    async def count(self, rule: LimitRule) -> int:
        previous, previous_seconds, current, _ = await self._get_window(rule)
        return floor(previous * previous_seconds / _SECONDS + current)

    async def get_wait_seconds(self, rule: LimitRule) -> float:
        """Return when a full rate has room again; the library's reset time may be too early."""
        previous, previous_seconds, current, current_seconds = await self._get_window(rule)
        if current >= rule.maximum or not previous:
            return current_seconds - _SECONDS  # until the current window is the previous one
        return previous_seconds - (rule.maximum - current) * _SECONDS / previous

    async def _get_window(self, rule: LimitRule) -> tuple[int, float, int, float]:
        key = rule.subject.name
        return await self._use(lambda windows: windows.get_sliding_window(key, _SECONDS))

    async def _use(self, call: Callable[[MemoryStorage | RedisStorage], Awaitable[T]]) -> T:
        try:
            async with self._redis.connect() as client:
                if client not in self._shared:
                    self._shared[client] = RedisStorage(
                        f"async+{self._redis.url}",
                        implementation="redispy",
                        key_prefix=f"{KEY_PREFIX}rate",
                        connection_pool=client.connection_pool,  # type: ignore[arg-type]  # typed too narrowly
                    )
                return await call(self._shared[client])
        except RedisUnavailable:
            return await call(self._memory)


LIMIT_REDIS = LimitRedis(settings.REDIS_URL)
SLOTS = ConcurrencySlots(LIMIT_REDIS)
RATE_LIMITS = RateLimits(LIMIT_REDIS)
