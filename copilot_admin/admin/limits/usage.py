"""What is used of limits now, and which limits are nearly reached."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from asgiref.sync import async_to_sync

from copilot_admin.admin.limits.subjects import get_names
from copilot_admin.limits.concurrency import SLOTS
from copilot_admin.limits.rate_limits import RATE_LIMITS
from copilot_admin.limits.rules import LimitRule, Limits, LimitSubject, build_rules
from copilot_admin.limits.usage import Usage, get_budgets, load_usage
from copilot_admin.models import Copilot, LimitScope, SubjectLimits

NEAR_SHARE = 0.8
MAX_CHECKED = 50  # subjects; the page of limits has all


@dataclass(frozen=True, slots=True)
class RuleUsage:
    """Amount used of a rule, and answers of unknown cost that a budget of money can't count."""

    used: int
    unpriced: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NearLimit:
    """Subject that has used most of a limit."""

    name: str
    percent: int


def measure_usage(rules: Collection[LimitRule]) -> Mapping[LimitRule, RuleUsage]:
    """Read what is used of rules; the database once for each subject and window."""
    counts = async_to_sync(_count_now)(rules)
    usage = {rule: RuleUsage(number) for rule, number in counts.items()}
    loaded: dict[object, Usage] = {}
    for budget in get_budgets(rules, datetime.now(UTC)):
        key = (budget.rule.subject, budget.window)
        found = loaded[key] = loaded.get(key) or load_usage(*key)
        unpriced = found.unpriced if budget.rule.counts_money else 0
        usage[budget.rule] = RuleUsage(found.get(budget.rule), unpriced)
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
        percent = min(100, 100 * usage[rule].used // rule.maximum)
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
