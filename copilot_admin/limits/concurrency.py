"""Concurrency limits: slots of running answers, in Redis or in this process.

A slot in Redis is a lease that its worker renews, so the slots of a crashed worker expire. Slots that
were taken while Redis was away aren't added to it later: until these answers end, a limit may be exceeded.
"""

from collections.abc import Awaitable
from contextlib import suppress
from typing import cast

from copilot_admin.limits.redis_client import KEY_PREFIX, LIMIT_REDIS, LimitRedis, RedisUnavailable
from copilot_admin.limits.rules import LimitRule

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


class ConcurrencySlots:
    """Slots by the id of the request that holds them."""

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
                evaluated = client.eval(
                    _ACQUIRE, len(rules), *keys, id, LEASE_SECONDS * 1000, *maxima
                )
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


SLOTS = ConcurrencySlots(LIMIT_REDIS)
