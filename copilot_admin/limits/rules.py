"""Limits as values: subjects, kinds, rules and the windows of budgets. Reads no database."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.usage import LimitScope

NANO = 1_000_000_000  # a small model's answer costs some ten thousand billionths of a dollar

# Numbers by the key of their kind, as rows and files have them.
Limits: TypeAlias = Mapping[str, Any]


class BudgetPeriod(TextChoices):
    MINUTE = "minute", _("per minute")
    DAY = "day", _("per day")
    MONTH = "month", _("per month")


class LimitMeasure(TextChoices):
    REQUESTS = "requests", _("Requests")
    CONCURRENT = "concurrent", _("Concurrent answers")
    TOKENS = "tokens", _("Tokens")
    USD = "usd", _("Cost (US dollars)")


@dataclass(frozen=True, slots=True)
class LimitKind:
    """Kind of limit; `key` is its name in files and forms, and concurrency has no period."""

    key: str
    measure: LimitMeasure
    period: BudgetPeriod | None = None

    @property
    def label(self) -> str:
        return " ".join(str(one.label) for one in (self.measure, self.period) if one)


_BUDGET_KINDS = [
    LimitKind(f"{measure}_per_{period}", measure, period)
    for measure in (LimitMeasure.REQUESTS, LimitMeasure.TOKENS, LimitMeasure.USD)
    for period in BudgetPeriod
]
KINDS: Mapping[str, LimitKind] = {
    kind.key: kind for kind in (LimitKind("concurrent", LimitMeasure.CONCURRENT), *_BUDGET_KINDS)
}


@dataclass(frozen=True, slots=True)
class LimitSubject:
    """Server, copilot, key, user or network address that a limit applies to."""

    scope: LimitScope
    id: str = ""

    @property
    def name(self) -> str:
        return f"{self.scope.value}:{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestIdentity:
    """Everything about a request that limits depend on."""

    copilot_id: int | None = None  # None for a component that no copilot lends
    key_id: int | None = None
    user: str = ""  # id of the end user
    address: str = ""  # network of the client; "" for a request from this process
    is_trial: bool = False  # of a builder or a test: only budgets of tokens and money apply
    is_answered: bool = True  # takes a slot, tokens and money; otherwise only requests count
    is_recorded: bool = True  # False for copilots that log nothing: no row names the caller

    @property
    def subjects(self) -> tuple[LimitSubject, ...]:
        """Subjects that the request counts for, the narrowest first."""
        named = (
            (LimitScope.ADDRESS, self.address),
            (LimitScope.USER, self.user),
            (LimitScope.KEY, self.key_id),
            (LimitScope.COPILOT, self.copilot_id),
        )
        known = (LimitSubject(scope, str(id)) for scope, id in named if id not in (None, ""))
        return (*known, LimitSubject(LimitScope.SERVER))


@dataclass(frozen=True, slots=True)
class LimitRule:
    """Maximum of one kind for a subject; money is in billionths of a dollar."""

    subject: LimitSubject
    kind: LimitKind
    maximum: int

    @property
    def is_rate(self) -> bool:
        return self.kind.key == "requests_per_minute"

    @property
    def is_concurrency(self) -> bool:
        return self.kind.measure is LimitMeasure.CONCURRENT

    @property
    def counts_money(self) -> bool:
        return self.kind.measure is LimitMeasure.USD

    def applies_to(self, identity: RequestIdentity) -> bool:
        if self.kind.measure is LimitMeasure.REQUESTS:
            return not identity.is_trial
        return identity.is_answered and not (self.is_concurrency and identity.is_trial)


def build_rules(subject: LimitSubject, limits: Limits) -> tuple[LimitRule, ...]:
    rules = []
    for key, kind in KINDS.items():
        number = limits.get(key)
        if number is not None:
            is_money = kind.measure is LimitMeasure.USD
            maximum = to_nano_dollars(Decimal(str(number))) if is_money else int(number)
            rules.append(LimitRule(subject, kind, maximum))
    return tuple(rules)


def to_nano_dollars(dollars: Decimal) -> int:
    return int(dollars * NANO)


class LimitWindow(NamedTuple):
    begins: datetime
    ends: datetime  # the first moment after it; both in UTC


def get_window(period: BudgetPeriod, now: datetime, zone: tzinfo) -> LimitWindow:
    """Return the window of an aware moment; days and months begin at midnight of a time zone."""
    if period is BudgetPeriod.MINUTE:
        minute = now.astimezone(UTC).replace(second=0, microsecond=0)
        return LimitWindow(minute, minute + timedelta(minutes=1))
    # A local day may have 23 or 25 hours; adding days to a local midnight gives another one.
    begins = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    if period is BudgetPeriod.DAY:
        ends = begins + timedelta(days=1)
    else:
        begins = begins.replace(day=1)
        ends = (begins + timedelta(days=32)).replace(day=1)
    return LimitWindow(begins.astimezone(UTC), ends.astimezone(UTC))
