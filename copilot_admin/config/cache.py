"""Cache over Redis that goes on counting sign-ins while Redis is away."""

from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django_redis.cache import RedisCache

# Rate limits, used codes and used tokens. Without an answer allauth would refuse every sign-in.
_PREFIXES = ("allauth", "jwt:")
MAX_LOCAL_KEYS = 10_000


class FallbackCache(RedisCache):  # type: ignore[misc]  # it has no types
    """`RedisCache` with a memory of this process for the keys of sign-in."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._local = LocMemCache(__name__, {"OPTIONS": {"MAX_ENTRIES": MAX_LOCAL_KEYS}})

    def add(self, key: str, value: Any, *args: Any, **options: Any) -> Any:
        added = super().add(key, value, *args, **options)
        if added is None and key.startswith(_PREFIXES):
            return self._local.add(key, value, *args, **options)
        return added

    def get(self, key: str, default: Any = None, **options: Any) -> Any:
        found = super().get(key, None, **options)
        if found is None and key.startswith(_PREFIXES):
            found = self._local.get(key, None)
        return default if found is None else found

    def set(self, key: str, value: Any, *args: Any, **options: Any) -> Any:
        done = super().set(key, value, *args, **options)
        if done is None and key.startswith(_PREFIXES):
            self._local.set(key, value, *args, **options)
        return done

    def delete(self, key: str, *args: Any, **options: Any) -> Any:
        if key.startswith(_PREFIXES):
            self._local.delete(key)
        return super().delete(key, *args, **options)
