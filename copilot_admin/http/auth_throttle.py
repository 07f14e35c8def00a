"""Throttle of failed API-key lookups, by client network.

Keys are random 256-bit tokens, so nobody guesses one. The throttle tells broken clients to stop,
and never rejects a valid key: other clients of the same network go on.
"""

from collections.abc import Callable
from math import ceil
import time
from typing import TypeVar

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from copilot_admin.errors import InvalidKey, TooManyFailedAttempts
from copilot_admin.http.scope import get_client_network

T = TypeVar("T")

MAX_FAILURES_PER_MINUTE = 20  # a client whose key has expired asks every few seconds
_LIMIT = RateLimitItemPerMinute(MAX_FAILURES_PER_MINUTE)
FAILURES = MemoryStorage()  # of this process
_limiter = FixedWindowRateLimiter(FAILURES)


def record_failure(address: str) -> None:
    """Count a wrong key or token of a client; raise `TooManyFailedAttempts` for too many a minute."""
    network = get_client_network(address)
    if not _limiter.hit(_LIMIT, network):
        reset = _limiter.get_window_stats(_LIMIT, network).reset_time
        raise TooManyFailedAttempts(
            "Too many wrong keys came from this address. Wait a minute, and send a valid one.",
            retry_after=max(1, ceil(reset - time.time())),
        )


def look_up_key(lookup: Callable[[], T], address: str) -> T:
    """Run a lookup of an API key for a client at an address, and throttle failures."""
    try:
        return lookup()
    except InvalidKey:
        record_failure(address)
        raise
