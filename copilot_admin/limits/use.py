"""How much of limits is used now, for a page: the counters say it, or what is kept."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
import time

from asgiref.sync import async_to_sync
from django.conf import settings
from limits.storage import RedisStorage
from limits.strategies import MovingWindowRateLimiter
import redis

from copilot_admin.config.redis_faults import REDIS_FAULTS
from copilot_admin.limits.counting import COUNTING, SECONDS
from copilot_admin.limits.demand import Demand, demand_of, rate_item, seat_key
from copilot_admin.limits.redis_counters import PREFIX
from copilot_admin.limits.rules import LimitRule
from copilot_admin.limits.spent import spent
from copilot_admin.limits.zone import budget_zone


@dataclass(frozen=True, slots=True)
class LimitUse:
    """How much of a rule is used.

    Attributes:
        unpriced: Answers that a budget of money cannot count, as nobody knows what they cost.
    """

    used: int
    unpriced: int = 0


def use_of(rules: Collection[LimitRule]) -> Mapping[LimitRule, LimitUse]:
    """How much of each rule is used; reads the counters, and the database for what they do not know."""
    demand = demand_of("", tuple(rules), now=datetime.now(UTC), zone=budget_zone())
    if settings.REDIS_URL:
        try:
            return _of(demand, *_shared(demand))
        except REDIS_FAULTS:
            pass  # the page says that it is away; this process knows what it counts itself
    return _of(demand, *_own(demand))


def _of(
    demand: Demand, known: Mapping[str, int], others: Mapping[LimitRule, int]
) -> Mapping[LimitRule, LimitUse]:
    found = {rule: LimitUse(number) for rule, number in others.items()}
    forgotten = spent(budget for budget in demand.budgets if budget.key not in known)
    for budget in demand.budgets:
        if budget in forgotten:
            found[budget.rule] = LimitUse(*forgotten[budget])
        else:
            found[budget.rule] = LimitUse(known[budget.key], known.get(budget.unpriced_key, 0))
    return found


def _keys(demand: Demand) -> list[str]:
    return [key for one in demand.budgets for key in (one.key, one.unpriced_key)]


def _own(demand: Demand) -> tuple[Mapping[str, int], Mapping[LimitRule, int]]:
    own = COUNTING.own
    rates = {rule: rule.most - async_to_sync(own.rate)(rule).remaining for rule in demand.rates}
    return own.known(_keys(demand)), rates | {rule: own.taken(rule) for rule in demand.seats}


def _shared(demand: Demand) -> tuple[Mapping[str, int], Mapping[LimitRule, int]]:
    options = {"socket_timeout": SECONDS, "socket_connect_timeout": SECONDS}
    with redis.Redis.from_url(settings.REDIS_URL, **options) as client:
        keys = _keys(demand)
        found = client.mget([PREFIX + key for key in keys]) if keys else []
        known = {key: int(one) for key, one in zip(keys, found, strict=True) if one is not None}
        now = time.time() * 1000
        seats = {rule: client.zcount(PREFIX + seat_key(rule), now, "+inf") for rule in demand.seats}
        storage = RedisStorage(
            settings.REDIS_URL,
            key_prefix=f"{PREFIX}rate",
            connection_pool=client.connection_pool,
        )
        limiter = MovingWindowRateLimiter(storage)
        rates = {
            rule: rule.most
            - limiter.get_window_stats(rate_item(rule), rule.subject.counter).remaining
            for rule in demand.rates
        }
    return known, rates | seats
