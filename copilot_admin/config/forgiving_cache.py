"""A cache in Redis without which pages go on: what it cannot say is as if it were not there."""

from collections.abc import Callable
import logging
import time
from typing import Any, TypeVar

from django.core.cache.backends.redis import RedisCache

from copilot_admin.config.redis_faults import REDIS_FAULTS

T = TypeVar("T")
LEFT_ALONE_SECONDS = 5.0  # so long one that does not answer is not asked: each try takes a second
# By its address: Django makes a cache anew for each request.
_AWAY_UNTIL: dict[str, float] = {}
# In one step: Django looks first and counts then, and a number that runs out between the two would
# begin anew without an end.
_COUNT_ON = (
    "if redis.call('EXISTS', KEYS[1]) == 1 then return redis.call('INCRBY', KEYS[1], ARGV[1]) end"
)

logger = logging.getLogger(__name__)


class ForgivingRedisCache(RedisCache):
    """Django's cache in Redis; while that is away nothing is in it, and nothing is kept."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._server = server

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        """The value of a key; the default where nobody knows."""
        reading = super().get
        return self._or(default, lambda: reading(key, default, version))

    def set(self, key: Any, value: Any, *args: Any, **options: Any) -> None:
        """Keeps a value, if it can be."""
        keeping = super().set
        self._or(None, lambda: keeping(key, value, *args, **options))

    def add(self, key: Any, value: Any, *args: Any, **options: Any) -> bool:
        """Whether nobody had added it: as far as anybody knows."""
        adding = super().add
        return bool(self._or(True, lambda: adding(key, value, *args, **options)))

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        """Counts on from the number that is kept under a key.

        Raises:
            ValueError: There is none, or nobody knows.
        """
        name = self.make_and_validate_key(key, version=version)
        client: Any = self._cache.get_client(name, write=True)
        found = self._or(None, lambda: _whole(client.eval(_COUNT_ON, 1, name, delta)))
        if found is None:
            raise ValueError("the cache does not know this number, or does not answer")
        return found

    def delete(self, key: Any, version: int | None = None) -> bool:
        """Whether something was taken out."""
        deleting = super().delete
        return bool(self._or(False, lambda: deleting(key, version)))

    def touch(self, key: Any, *args: Any, **options: Any) -> bool:
        """Whether something is kept for longer."""
        touching = super().touch
        return bool(self._or(False, lambda: touching(key, *args, **options)))

    def has_key(self, key: Any, version: int | None = None) -> bool:
        """Whether something is there, as far as anybody knows."""
        looking = super().has_key
        return bool(self._or(False, lambda: looking(key, version)))

    def get_many(self, keys: Any, version: int | None = None) -> dict[Any, Any]:
        """The values of those keys that somebody knows."""
        names, reading = list(keys), super().get_many
        return self._or({}, lambda: reading(names, version))

    def set_many(self, data: dict[Any, Any], *args: Any, **options: Any) -> list[Any]:
        """Keeps values; returns the keys of those that are not kept."""
        keeping = super().set_many
        return self._or(list(data), lambda: keeping(data, *args, **options))

    def delete_many(self, keys: Any, version: int | None = None) -> None:
        """Takes several out, if it can be."""
        names, deleting = list(keys), super().delete_many
        self._or(None, lambda: deleting(names, version))

    def clear(self) -> None:
        """Takes everything out, if it can be."""
        self._or(None, super().clear)

    def _or(self, otherwise: T, ask: Callable[[], T]) -> T:
        if time.monotonic() < _AWAY_UNTIL.get(self._server, 0.0):
            return otherwise
        try:
            return ask()
        except REDIS_FAULTS as error:
            _AWAY_UNTIL[self._server] = time.monotonic() + LEFT_ALONE_SECONDS
            logger.warning("the cache does not answer: %s", type(error).__name__)
            return otherwise


def _whole(number: Any) -> int | None:
    return None if number is None else int(number)
