"""Rate limits: requests per minute, by the sliding window of the `limits` package."""

from math import floor
from weakref import WeakKeyDictionary

from limits.aio.storage import MemoryStorage, RedisStorage
from redis.asyncio import Redis

from copilot_admin.limits.redis_client import (
    KEY_PREFIX,
    LIMIT_REDIS,
    LimitRedis,
    RedisUnavailable,
)
from copilot_admin.limits.rules import LimitRule

_SECONDS = 60


class RateLimits:
    """Sliding windows in Redis, or in this process."""

    def __init__(self, redis: LimitRedis) -> None:
        self._redis = redis
        self._memory = MemoryStorage()
        self._shared: WeakKeyDictionary[Redis, RedisStorage] = WeakKeyDictionary()

    async def hit(self, rule: LimitRule) -> bool:
        """Count a request; return False if the rate is exceeded."""
        key, maximum = rule.subject.name, rule.maximum
        try:
            async with self._redis.connect() as client:
                storage = self._get_shared(client)
                return await storage.acquire_sliding_window_entry(key, maximum, _SECONDS)
        except RedisUnavailable:
            return await self._memory.acquire_sliding_window_entry(key, maximum, _SECONDS)

    async def count(self, rule: LimitRule) -> int:
        """Return the requests of the last minute."""
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
        try:
            async with self._redis.connect() as client:
                return await self._get_shared(client).get_sliding_window(key, _SECONDS)
        except RedisUnavailable:
            return await self._memory.get_sliding_window(key, _SECONDS)

    def _get_shared(self, client: Redis) -> RedisStorage:
        if client not in self._shared:
            self._shared[client] = RedisStorage(
                f"async+{self._redis.url}",
                implementation="redispy",
                key_prefix=f"{KEY_PREFIX}rate",
                connection_pool=client.connection_pool,  # type: ignore[arg-type]  # typed too narrowly
            )
        return self._shared[client]

    def forget(self) -> None:
        """Drop all counts of this process; for tests."""
        self._memory = MemoryStorage()


RATE_LIMITS = RateLimits(LIMIT_REDIS)
