"""Pauses before a model is asked again."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
import random

from copilot_admin.errors import RunError

MAX_RETRIES = 2
_BASE_SECONDS = 0.5
_MAX_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class Pace:
    """Backoff between attempts; tests replace it.

    Attributes:
        sleep: Waits for seconds.
        random: A number from 0 to 1.
    """

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random


def pause_before_retry(
    error: RunError, *, retries: int, remaining: float, chance: float
) -> float | None:
    """Return the seconds to wait before the next attempt, None when a retry is of no use.

    Args:
        error: Why there was no answer.
        retries: How many retries there were.
        remaining: Seconds until the first token is due.
        chance: A random number from 0 to 1: full jitter, so that many don't come back at once.
    """
    if not error.retryable or retries >= MAX_RETRIES:
        return None
    ceiling = min(2 * _BASE_SECONDS * 2**retries, _MAX_SECONDS)
    pause = _BASE_SECONDS + chance * (ceiling - _BASE_SECONDS)
    pause = max(pause, error.retry_after or 0.0)
    return pause if pause < remaining else None
