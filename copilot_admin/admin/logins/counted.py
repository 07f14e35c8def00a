"""How often something may be asked for in a while, counted for all workers together."""

from django.core.cache import cache
from django.utils.crypto import salted_hmac


def within(what: str, most: int, *, seconds: int) -> bool:
    """Counts that something is asked for once more; whether it is no more than may be.

    Args:
        what: What is counted, and of whom; it is kept as a mark.
        most: So often in the time.
        seconds: The time, from the first on.
    """
    key = f"asked:{salted_hmac(__name__, what, algorithm='sha256').hexdigest()}"
    cache.add(key, 0, seconds)
    try:
        return cache.incr(key) <= most
    except ValueError:  # it ran out between the two
        return True
