"""Rate limits: requests per minute, by the sliding window of the `limits` package."""

from collections.abc import Awaitable, Callable
from math import floor
from typing import TypeVar
from weakref import WeakKeyDictionary

from limits.aio.storage import MemoryStorage, RedisStorage
from redis.asyncio import Redis

from copilot_admin.limits.redis_client import KEY_PREFIX, LIMIT_REDIS, LimitRedis, RedisUnavailable
from copilot_admin.limits.rules import LimitRule

T = TypeVar("T")
_SECONDS = 60


class RateLimits:
    """Sliding windows in Redis, or in this process."""

    def __init__(self, redis: LimitRedis) -> None:
        self._redis = redis
        self._memory = MemoryStorage()
        self._shared: WeakKeyDictionary[Redis, RedisStorage] = WeakKeyDictionary()

    async def hit(self, rule: LimitRule) -> bool:
        """Count a request; return False if the rate is exceeded."""
        key = rule.subject.name
        return await self._use(
            lambda windows: windows.acquire_sliding_window_entry(key, rule.maximum, _SECONDS)
        )

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


RATE_LIMITS = RateLimits(LIMIT_REDIS)
