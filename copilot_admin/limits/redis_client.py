"""Redis for limits that all workers share; without it, or while it is away, each worker counts alone.

No request waits for a Redis that is away: the first to notice waits for two seconds, the others not
at all, and a periodic task tries again.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
import logging
from weakref import WeakKeyDictionary

from django.conf import settings
from redis.asyncio import Redis
from redis.exceptions import RedisError

KEY_PREFIX = "copilot-limits:"
REDIS_TIMEOUT_SECONDS = 2.0  # an answer takes a fraction of a millisecond; a busy loop sees it late
REDIS_AWAY = "limits are counted by each worker alone: Redis does not answer"
logger = logging.getLogger(__name__)


class RedisUnavailable(Exception):
    """There is no Redis, or it does not answer."""


class LimitRedis:
    """Redis clients, one for each event loop."""

    def __init__(self, url: str) -> None:  # "" if there is no Redis
        self.url = url
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Redis] = WeakKeyDictionary()
        self._is_away = False

    @property
    def problem(self) -> str:
        """Reason why limits may be exceeded at the moment; "" if there is none."""
        return REDIS_AWAY if self._is_away else ""

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Redis]:
        if not self.url or self._is_away:
            raise RedisUnavailable
        try:
            async with asyncio.timeout(REDIS_TIMEOUT_SECONDS):
                yield self._get_client()
        except (RedisError, OSError, ValueError) as error:
            if not self._is_away:
                self._is_away = True
                # Only the class: the message quotes the URL, which may have a password.
                reason = type(error).__name__
                logger.error("Redis does not answer (%s): %s", reason, REDIS_AWAY)  # noqa: TRY400
            raise RedisUnavailable from None

    async def reconnect(self) -> None:
        """Use Redis again if it answers; a periodic task."""
        if not self._is_away:
            return
        try:
            async with asyncio.timeout(REDIS_TIMEOUT_SECONDS):
                self._is_away = not await self._get_client().ping()
        except (RedisError, OSError, ValueError):
            return
        if not self._is_away:
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


LIMIT_REDIS = LimitRedis(settings.REDIS_URL)
