"""Budgets that somebody takes away are forgotten by the counters, which count nothing for them from then on.

Set again before their day or month is over, they are looked up: what was used meanwhile is in it.
"""

from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
import logging
from typing import Any

from django.conf import settings
import redis

from copilot_admin.config.redis_faults import REDIS_FAULTS
from copilot_admin.limits.counting import COUNTING, SECONDS
from copilot_admin.limits.redis_counters import PREFIX
from copilot_admin.limits.rules import KINDS
from copilot_admin.limits.subjects import LimitSubject
from copilot_admin.limits.windows import BudgetPeriod
from copilot_admin.models import LimitScope

_AT_ONCE = 1000  # keys that Redis looks through, and that are deleted, in one step
_LASTING = frozenset(
    kind.key for kind in KINDS.values() if kind.period in (BudgetPeriod.DAY, BudgetPeriod.MONTH)
)

logger = logging.getLogger(__name__)


def taken_away(
    before: Mapping[LimitSubject, Mapping[str, Any]],
    after: Mapping[LimitSubject, Mapping[str, Any]],
) -> frozenset[str]:
    """The patterns of the counters of budgets that there were before, and are not any more.

    Those of addresses stay: nobody could look them up.
    """
    return frozenset(
        _pattern(subject, kind)
        for subject, limits in before.items()
        if subject.scope is not LimitScope.ADDRESS
        for kind in _LASTING.intersection(limits)
        if kind not in after.get(subject, {})
    )


def forget(patterns: Collection[str]) -> bool:
    """Lets the counters of this process and the shared ones forget; False: try again later."""
    COUNTING.own.forget_those(lambda key: any(fnmatchcase(key, one) for one in patterns))
    if not settings.REDIS_URL:
        return True
    options = {"socket_timeout": SECONDS, "socket_connect_timeout": SECONDS}
    try:
        with redis.Redis.from_url(settings.REDIS_URL, **options) as client:
            for one in patterns:
                _unlink(client, f"{PREFIX}{one}")
    except REDIS_FAULTS as error:
        logger.warning("budgets that were taken away are forgotten later: %s", type(error).__name__)
        return False
    return True


def _unlink(client: "redis.Redis", pattern: str) -> None:
    keys = list(client.scan_iter(match=pattern, count=_AT_ONCE))
    for first in range(0, len(keys), _AT_ONCE):
        client.unlink(*keys[first : first + _AT_ONCE])


def _pattern(subject: LimitSubject, kind: str) -> str:
    """Matches the counters of a budget; of one for every key or user, those of all of them."""
    is_every = not subject.id and subject.scope is not LimitScope.SERVER
    whose = f"{subject.scope.value}:*" if is_every else subject.counter
    return f"budget:{whose}:{kind}:*"
