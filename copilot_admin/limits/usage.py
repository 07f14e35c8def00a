"""Cached limits, and usage of budgets: sums over rollups and runs, cached for some seconds.

An answer is added to the cache when it ends, so within one process a budget is exact up to the answers
that still run; other workers see it when their cache expires. The address of a caller is stored nowhere,
so each process counts the budgets of addresses alone, from its start.
"""

from collections.abc import Callable, Collection
from dataclasses import astuple, dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from ipaddress import ip_address
from math import inf
import time
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Aggregate, Count, F, Q, QuerySet, Sum

from copilot_admin.limits.rules import (
    LimitMeasure,
    LimitRule,
    Limits,
    LimitSubject,
    LimitWindow,
    RequestIdentity,
    build_rules,
    get_window,
    to_nano_dollars,
)
from copilot_admin.models import (
    Copilot,
    DailyTotal,
    HourlyUsage,
    LimitScope,
    Outcome,
    Run,
    SubjectLimits,
)
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.storage.writer import READER, Deadline

CACHE_SECONDS = 5.0
_CACHE_QUERY_FACTOR = 20  # a query that takes a second is repeated every 20 seconds
_MAX_CACHED = 100_000  # subjects, about 40 MB: of anonymous addresses there is no end


class Budget(NamedTuple):
    rule: LimitRule
    window: LimitWindow


@dataclass(frozen=True, slots=True)
class Usage:
    """Requests, tokens, known cost in billionths of a dollar, and answers of unknown cost."""

    requests: int = 0
    tokens: int = 0
    nano_usd: int = 0
    unpriced: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    def get(self, rule: LimitRule) -> int:
        if rule.kind.measure is LimitMeasure.TOKENS:
            return self.tokens
        return self.nano_usd if rule.counts_money else self.requests


class UsageCache:
    """Usage by subject and window; belongs to the event loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._found: dict[tuple[LimitSubject, LimitWindow], tuple[float, Usage]] = {}

    async def get(self, budget: Budget, deadline: Deadline) -> Usage:
        key = (budget.rule.subject, budget.window)
        expires_at, usage = self._found.pop(key, (0.0, Usage()))
        began = self._clock()
        if began >= expires_at and budget.rule.subject.scope is not LimitScope.ADDRESS:
            usage = await READER.run(partial(load_usage, *key), deadline)
            duration = self._clock() - began
            expires_at = began + max(CACHE_SECONDS, _CACHE_QUERY_FACTOR * duration)
        self._found[key] = (expires_at, usage)  # the newest is last
        if len(self._found) > _MAX_CACHED:
            del self._found[next(iter(self._found))]
        return usage

    def add(self, budgets: Collection[Budget], more: Usage) -> None:
        """Add usage that the database has, or will soon have."""
        for key in {(budget.rule.subject, budget.window) for budget in budgets}:
            if key in self._found:
                expires_at, usage = self._found[key]
                self._found[key] = (expires_at, usage + more)


def get_budgets(rules: Collection[LimitRule], now: datetime) -> tuple[Budget, ...]:
    """Return those of some rules that are budgets, each in its current window."""
    zone = ZoneInfo(settings.BUDGET_ZONE)
    return tuple(
        Budget(rule, get_window(rule.kind.period, now, zone))
        for rule in rules
        if rule.kind.period and not rule.is_rate
    )


def load_usage(subject: LimitSubject, window: LimitWindow) -> Usage:
    runs = Run.objects.filter(started_at__gte=window.begins, started_at__lt=window.ends)
    runs = runs.exclude(outcome=Outcome.REFUSED)
    match subject.scope:
        case LimitScope.ADDRESS:
            return Usage()
        case LimitScope.KEY:
            return _sum_runs(runs.filter(principal=f"key:{subject.id}"))
        case LimitScope.USER:
            return _sum_runs(runs.filter(user__identifier=subject.id))
    if window.ends - window.begins <= timedelta(minutes=1):
        copilots = list(Copilot.objects.values_list("pk", flat=True))  # no index has the time first
        return _sum_runs(_of_copilot(runs.filter(copilot__in=copilots), subject))
    builders = get_user_model().objects.values_list("pk", flat=True)
    trials = runs.filter(principal__in=[f"{PLAYGROUND}{pk}" for pk in builders])
    not_in_rollups = runs.filter(is_counted=False).exclude(principal__startswith=PLAYGROUND)
    return (
        _sum_rollups(subject, window)
        + _sum_runs(_of_copilot(not_in_rollups, subject))
        + _sum_runs(_of_copilot(trials, subject))
    )


def _of_copilot(rows: QuerySet[Any], subject: LimitSubject) -> QuerySet[Any]:
    return rows.filter(copilot_id=int(subject.id)) if subject.id else rows


def _sum_rollups(subject: LimitSubject, window: LimitWindow) -> Usage:
    begins, ends = window.begins, window.ends
    rows: QuerySet[Any]
    if begins.hour or begins.minute or ends.hour or ends.minute:
        # In time zones with half hours this is a little more than the day.
        rows = HourlyUsage.objects.filter(hour__gte=begins.replace(minute=0), hour__lt=ends)
    else:
        rows = DailyTotal.objects.filter(day__gte=begins.date(), day__lt=ends.date())
    return _sum(
        _of_copilot(rows, subject),
        requests=Sum(F("runs") - F("refused"), default=0),
        tokens=Sum("tokens", default=0),
        unpriced=Sum("unpriced", default=0),
    )


def _sum_runs(runs: QuerySet[Run]) -> Usage:
    return _sum(
        runs,
        requests=Count("pk", filter=~Q(principal__startswith=PLAYGROUND)),
        tokens=Sum(F("input_tokens") + F("output_tokens"), default=0),
        unpriced=Count("pk", filter=Q(cost=None) & ~Q(outcome=Outcome.RUNNING)),
    )


def _sum(rows: QuerySet[Any], **sums: Aggregate) -> Usage:
    found = rows.aggregate(Sum("cost", default=Decimal(0)), **sums)
    return Usage(nano_usd=to_nano_dollars(found.pop("cost__sum")), **found)


USAGE_CACHE = UsageCache()


class LimitCache:
    def __init__(self) -> None:
        self._loaded_at = -inf
        self._limits: dict[LimitSubject, Limits] = {}

    async def refresh(self, deadline: Deadline) -> None:
        """Load the limits again if another process may have changed them."""
        if time.monotonic() - self._loaded_at > CACHE_SECONDS:
            await READER.run(self.load, deadline)

    def get_rules(self, identity: RequestIdentity) -> tuple[LimitRule, ...]:
        """Return the rules for a request, the narrowest first."""
        is_known = identity.key_id or identity.user or identity.is_trial
        rules: list[LimitRule] = []
        for subject in identity.subjects:
            defaults = dict(self._limits.get(LimitSubject(subject.scope), {}))
            if subject.scope is LimitScope.ADDRESS:  # the defaults are for anonymous callers
                anonymous = get_anonymous_limits(subject.id)
                defaults = {} if is_known else {**anonymous, **defaults}
            rules += build_rules(subject, {**defaults, **self._limits.get(subject, {})})
        return tuple(rule for rule in rules if rule.applies_to(identity))

    def load(self) -> None:
        self._loaded_at = time.monotonic()
        self._limits = load_limits()


def load_limits() -> dict[LimitSubject, Limits]:
    """Load the limits of all subjects; those of copilots are sorted by name."""
    rows = SubjectLimits.objects.exclude(limits={}).values_list("scope", "subject", "limits")
    found = {LimitSubject(LimitScope(scope), id): limits for scope, id, limits in rows}
    copilots = Copilot.objects.exclude(limits={}).by_name().values_list("pk", "limits")
    return found | {LimitSubject(LimitScope.COPILOT, str(pk)): limits for pk, limits in copilots}


def get_anonymous_limits(address: str = "") -> Limits:
    """Return the limits that the settings give to an anonymous address; "": to each of them.

    Values of the environment always apply. The defaults apply in production only, and to a private
    address only if trusted proxies are configured: without them, a whole firm shares the address of
    its reverse proxy.
    """
    concurrent, per_minute = settings.ANONYMOUS_CONCURRENT, settings.ANONYMOUS_PER_MINUTE
    if settings.PRODUCTION and not (address and is_shared_address(address)):
        concurrent = 20 if concurrent is None else concurrent
        per_minute = 120 if per_minute is None else per_minute
    limits = {"concurrent": concurrent, "requests_per_minute": per_minute}
    return {key: number for key, number in limits.items() if number}


def is_shared_address(address: str) -> bool:
    """Return whether many clients may have an address: a private one without trusted proxies."""
    if any(not network.is_loopback for network in settings.TRUSTED_PROXIES):
        return False
    try:
        return not ip_address(address).is_global
    except ValueError:
        return True


def reload_on_commit() -> None:
    transaction.on_commit(LIMIT_CACHE.load)


LIMIT_CACHE = LimitCache()
