"""Admission of requests: check all limits, take slots, and charge the answer at its end.

Tokens and cost are known only when an answer ends, so a budget may be exceeded by what is running.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from math import ceil
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import F, Max

from copilot_admin.errors import TooManyRequests, Unavailable
from copilot_admin.limits.counters import RATE_LIMITS, SLOTS
from copilot_admin.limits.rules import BudgetPeriod, LimitMeasure, LimitRule, RequestIdentity
from copilot_admin.limits.usage import LIMIT_CACHE, USAGE_CACHE, Budget, Usage, get_budgets
from copilot_admin.models import LimitRejection, LimitScope
from copilot_admin.storage.writer import WRITER, Deadline

_SLOT_RETRY_SECONDS = 5  # when an answer will end isn't known
_SUBJECTS = {
    LimitScope.SERVER: "This server",
    LimitScope.COPILOT: "This copilot",
    LimitScope.KEY: "This API key",
    LimitScope.USER: "This user",
    LimitScope.ADDRESS: "This address",
}
_WINDOWS = {
    BudgetPeriod.MINUTE: "this minute",
    BudgetPeriod.DAY: "today",
    BudgetPeriod.MONTH: "this month",
}
_MAX_COUNTDOWN_SECONDS = 120  # a later moment is given as a time of day
RETENTION = timedelta(days=7)
MAX_ROWS = 10_000
_MAX_PENDING = 200  # subjects of some seconds; the others are counted without a name


class LimitExceeded(TooManyRequests):
    def __init__(self, rule: LimitRule, *, now: datetime, retry_at: datetime | None) -> None:
        super().__init__(
            build_rejection(rule, now=now, retry_at=retry_at, zone=ZoneInfo(settings.BUDGET_ZONE)),
            retry_after=_get_retry_seconds(retry_at, now) if retry_at else _SLOT_RETRY_SECONDS,
        )
        self.rule = rule


@dataclass(slots=True)
class Admission:
    """Request that was admitted, with what is released and charged at its end."""

    id: str = ""
    slots: tuple[LimitRule, ...] = ()
    budgets: tuple[Budget, ...] = ()

    @property
    def is_open(self) -> bool:
        return bool(self.slots or self.budgets)

    @property
    def counts_money(self) -> bool:
        return any(budget.rule.counts_money for budget in self.budgets)

    async def end(self, usage: Usage | None = None) -> None:
        """Charge the answer and release the slots; a second call does nothing."""
        slots, budgets, self.slots, self.budgets = self.slots, self.budgets, (), ()
        if usage is not None:
            USAGE_CACHE.add(budgets, usage)
        await SLOTS.release(self.id, slots)


async def admit_request(identity: RequestIdentity, *, id: str, deadline: Deadline) -> Admission:
    """Admit a request if all of its limits have room, or raise LimitExceeded and hold nothing."""
    await LIMIT_CACHE.refresh(deadline)
    rules = LIMIT_CACHE.get_rules(identity)
    now = datetime.now(UTC)
    slots = tuple(rule for rule in rules if rule.is_concurrency)
    admission = Admission(id, slots, get_budgets(rules, now))
    try:
        for budget in admission.budgets:
            used = await USAGE_CACHE.get(budget, deadline)
            if used.get(budget.rule) >= budget.rule.maximum:
                raise LimitExceeded(budget.rule, now=now, retry_at=budget.window.ends)
        if full := await SLOTS.acquire(id, slots):
            raise LimitExceeded(full, now=now, retry_at=None)
        for rule in (one for one in rules if one.is_rate):
            if not await RATE_LIMITS.hit(rule):
                wait = timedelta(seconds=await RATE_LIMITS.get_wait_seconds(rule))
                raise LimitExceeded(rule, now=now, retry_at=now + wait)
    except BaseException as error:  # also of a client that leaves meanwhile
        await admission.end()
        if isinstance(error, LimitExceeded):
            REJECTIONS.add(error.rule, identity)
        raise
    if not identity.is_trial:
        USAGE_CACHE.add(admission.budgets, Usage(requests=1))
    return admission


def build_rejection(
    rule: LimitRule, *, now: datetime, retry_at: datetime | None, zone: tzinfo
) -> str:
    """Name the limit and the time to try again; None means when an answer has ended."""
    kind, plural = rule.kind, "" if rule.maximum == 1 else "s"
    if kind.period is not None and kind.measure is not LimitMeasure.REQUESTS:
        budget = "money" if rule.counts_money else "token"
        used = f"has used up its {budget} budget for {_WINDOWS[kind.period]}"
    elif kind.period is None:
        used = f"has reached its limit of {rule.maximum:,} concurrent answer{plural}"
    else:
        used = f"has reached its limit of {rule.maximum:,} request{plural} per {kind.period.value}"
    time = _describe_time(now, retry_at, zone)
    return f"{_SUBJECTS[rule.subject.scope]} {used}. Try again {time}."


def _get_retry_seconds(retry_at: datetime, now: datetime) -> int:
    """Return whole seconds for `Retry-After`, rounded up."""
    return max(1, ceil((retry_at - now).total_seconds()))


def _describe_time(now: datetime, retry_at: datetime | None, zone: tzinfo) -> str:
    if retry_at is None:
        return "when one of them has ended"
    seconds = _get_retry_seconds(retry_at, now)
    if seconds <= _MAX_COUNTDOWN_SECONDS:
        return "in 1 second" if seconds == 1 else f"in {seconds} seconds"
    local = retry_at.astimezone(zone)
    return f"after {local:%-d %B %Y, %H:%M} {local.tzname()}"


_Key = tuple[datetime, LimitScope, str, str]  # minute, subject and kind


class Rejections:
    """Rejections of this process that wait to be stored; a crash loses those of some seconds."""

    def __init__(self) -> None:
        self._pending: Counter[_Key] = Counter()

    def add(self, rule: LimitRule, identity: RequestIdentity) -> None:
        minute = datetime.now(UTC).replace(second=0, microsecond=0)
        scope, id, kind = rule.subject.scope, rule.subject.id, rule.kind.key
        is_hidden = scope in (LimitScope.USER, LimitScope.ADDRESS) and not identity.is_recorded
        is_new = (minute, scope, id, kind) not in self._pending
        if is_hidden or (is_new and len(self._pending) >= _MAX_PENDING):
            id = ""
        self._pending[minute, scope, id, kind] += 1

    async def store(self) -> None:
        """Store what waits and delete what is old; a periodic task, and the last act of a server."""
        pending, self._pending = self._pending, Counter()
        if not pending:
            return
        try:
            await WRITER.run(partial(_store, pending))
        except Unavailable:
            self._pending.update(pending)


def _store(pending: Counter[_Key]) -> None:
    now = datetime.now(UTC)
    for (minute, scope, id, kind), number in pending.items():
        LimitRejection.objects.update_or_create(
            minute=minute,
            scope=scope,
            subject=id,
            kind=kind,
            defaults={"number": F("number") + number, "last_at": now},
            create_defaults={"number": number, "last_at": now},
        )
    LimitRejection.objects.filter(minute__lt=now - RETENTION).delete()
    newest = LimitRejection.objects.aggregate(pk=Max("pk"))["pk"]
    LimitRejection.objects.filter(pk__lte=newest - MAX_ROWS).delete()


REJECTIONS = Rejections()
