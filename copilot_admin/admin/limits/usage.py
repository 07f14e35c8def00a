"""Usage of limits: what is used now, as meters, nearly reached limits, and recent rejections."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from asgiref.sync import async_to_sync
from django.db.models import Max, Min, Sum
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.admin.limits.subjects import get_names
from copilot_admin.limits.cache import has_trusted_proxies, is_private
from copilot_admin.limits.concurrency import SLOTS
from copilot_admin.limits.rate_limits import RATE_LIMITS
from copilot_admin.limits.rejections import RETENTION
from copilot_admin.limits.rules import KINDS, NANO, LimitRule, Limits, LimitSubject, build_rules
from copilot_admin.limits.usage import Usage, get_budgets, load_usage
from copilot_admin.models import Copilot, LimitRejection, LimitScope, SubjectLimits

NEAR_SHARE = 0.8
MAX_CHECKED = 50  # subjects; the page of limits has all
MAX_SHOWN = 50  # rejections


@dataclass(frozen=True, slots=True, kw_only=True)
class NearLimit:
    name: str
    percent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """Limit with its usage.

    Attributes:
        percent: At most 100; None for a limit that applies to each of several subjects.
        note: Usage that the meter doesn't show; "" if there is none.
    """

    label: str
    text: str
    percent: int | None = None
    note: str = ""

    @property
    def is_full(self) -> bool:
        return self.percent is not None and self.percent >= 100

    @property
    def is_near(self) -> bool:
        return self.percent is not None and 100 * NEAR_SHARE <= self.percent < 100


def build_meter(rule: LimitRule, usage: tuple[int, int] | None) -> Meter:
    """Return the meter of a rule; without usage, it applies to each of several subjects."""
    maximum = _format_amount(rule, rule.maximum)
    if usage is None:
        text = _("%(maximum)s each") % {"maximum": maximum}
        return Meter(label=rule.kind.label, text=text)
    used, unpriced = usage
    values = {"used": _format_amount(rule, used), "maximum": maximum}
    note = ngettext(
        "%(count)d answer isn't included: its model has no price.",
        "%(count)d answers aren't included: their models have no price.",
        unpriced,
    )
    return Meter(
        label=rule.kind.label,
        text=_("%(used)s of %(maximum)s") % values,
        percent=min(100, 100 * used // rule.maximum),
        note=note % {"count": unpriced} if unpriced else "",
    )


def measure_usage(rules: Collection[LimitRule]) -> Mapping[LimitRule, tuple[int, int]]:
    """Read what is used of rules; the database once for each subject and window.

    Returns:
        The amount, and for budgets of money the answers of unknown cost that it lacks.
    """
    usage = {rule: (number, 0) for rule, number in async_to_sync(_count_now)(rules).items()}
    loaded: dict[object, Usage] = {}
    for budget in get_budgets(rules, datetime.now(UTC)):
        key = (budget.rule.subject, budget.window)
        found = loaded[key] = loaded.get(key) or load_usage(*key)
        unpriced = found.unpriced if budget.rule.counts_money else 0
        usage[budget.rule] = (found.get(budget.rule), unpriced)
    return usage


async def _count_now(rules: Collection[LimitRule]) -> Mapping[LimitRule, int]:
    counts = {rule: await RATE_LIMITS.count(rule) for rule in rules if rule.is_rate}
    return counts | {rule: await SLOTS.count(rule) for rule in rules if rule.is_concurrency}


def find_near_limits() -> list[NearLimit]:
    """Find limits of single subjects that are used to 80 % or more, the fullest first."""
    rules = [rule for subject, limits in _get_limits() for rule in build_rules(subject, limits)]
    usage = measure_usage(rules) if rules else {}
    fullest: dict[LimitSubject, int] = {}
    for rule in rules:
        percent = min(100, 100 * usage[rule][0] // rule.maximum)
        if percent >= 100 * NEAR_SHARE:
            fullest[rule.subject] = max(percent, fullest.get(rule.subject, 0))
    names = get_names(fullest)
    return [
        NearLimit(name=names[subject], percent=percent)
        for subject, percent in sorted(fullest.items(), key=lambda one: -one[1])
        if subject in names
    ]


def _get_limits() -> Iterator[tuple[LimitSubject, Limits]]:
    copilots = Copilot.objects.in_use().exclude(limits={}).values_list("pk", "limits")
    for pk, limits in copilots[:MAX_CHECKED]:
        yield LimitSubject(LimitScope.COPILOT, str(pk)), limits
    rows = SubjectLimits.objects.exclude(limits={}).values_list("scope", "subject", "limits")
    for scope, id, limits in rows[:MAX_CHECKED]:
        if id or scope == LimitScope.SERVER:
            yield LimitSubject(LimitScope(scope), id), limits


def _format_amount(rule: LimitRule, number: int) -> str:
    if not rule.counts_money:
        return number_format(number, force_grouping=True)
    dollars = Decimal(number) / NANO
    places = 2 if dollars >= 1 or not dollars else 6
    return f"${number_format(dollars.quantize(Decimal(1).scaleb(-places)), force_grouping=True)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectionRow:
    subject: LimitSubject
    name: str
    limit: str
    number: int
    first_at: datetime
    last_at: datetime


def load_rejections() -> list[RejectionRow]:
    """Load the rejections of the last days by subject and limit, the newest first."""
    found = (
        LimitRejection.objects.filter(minute__gte=timezone.now() - RETENTION)
        .values_list("scope", "subject", "kind")
        .annotate(total=Sum("number"), first=Min("minute"), last=Max("last_at"))
        .order_by("-last")[:MAX_SHOWN]
    )
    rows = [(LimitSubject(LimitScope(scope), id), *rest) for scope, id, *rest in found]
    names = get_names({subject for subject, *_ in rows if subject.id})
    return [
        RejectionRow(
            subject=subject,
            name=names.get(subject, _("Unknown") if subject.id else ""),
            limit=KINDS[kind].label if kind in KINDS else kind,
            number=number,
            first_at=first_at,
            last_at=last_at,
        )
        for subject, kind, number, first_at, last_at in rows
    ]


def get_advice(rejections: Collection[RejectionRow]) -> str:
    """Return what to do about a reverse proxy whose address is limited; "" if there is none."""
    proxy = next((row.subject for row in rejections if _may_be_proxy(row.subject)), None)
    if proxy is None or has_trusted_proxies():
        return ""
    return _(
        "Requests from the private IP address %(address)s were rejected, and no trusted proxies are "
        "configured. If it is your reverse proxy, all its users share one limit: set "
        "FORWARDED_ALLOW_IPS to the address of the proxy and restart the server."
    ) % {"address": proxy.id}


def _may_be_proxy(subject: LimitSubject) -> bool:
    return subject.scope is LimitScope.ADDRESS and bool(subject.id) and is_private(subject.id)
