"""How often something may be asked for in a while, counted for all workers together.

While Redis is away each worker goes by its own count, in which is what it let through before.
"""

from django.conf import settings
from django.core.cache import cache
from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.locmem import LocMemCache
from django.utils.crypto import salted_hmac

MOST_REMEMBERED = 10_000  # marks in the count of a process; some megabytes
_OWN = LocMemCache(__name__, {"OPTIONS": {"MAX_ENTRIES": MOST_REMEMBERED}})


def within(what: str, most: int, *, seconds: int) -> bool:
    """Counts that something is asked for once more; whether it is no more than may be.

    Args:
        what: What is counted, and of whom; it is kept as a mark.
        most: So often in the time.
        seconds: The time, from the first on.
    """
    key = f"asked:{salted_hmac(__name__, what, algorithm='sha256').hexdigest()}"
    # Without Redis the cache is of this process, and never away.
    counts: tuple[BaseCache, ...] = (cache, _OWN) if settings.REDIS_URL else (cache,)
    return max(_counted(one, key, seconds) for one in counts) <= most


def forget() -> None:
    """Forgets what this process has counted; for tests."""
    _OWN.clear()


def _counted(count: BaseCache, key: str, seconds: int) -> int:
    count.add(key, 0, seconds)
    try:
        return count.incr(key) or 0  # None: Redis is away
    except ValueError:  # it ran out between the two, or does not answer
        return 0
