"""Which limits are nearly reached at the moment, for those who may change them."""

from collections.abc import Iterator
from dataclasses import dataclass

from copilot_admin.limits.naming import names_of
from copilot_admin.limits.near_limits import SHARE
from copilot_admin.limits.rules import LimitRule, rules_of
from copilot_admin.limits.subjects import LimitSubject
from copilot_admin.limits.use import LimitUse, use_of
from copilot_admin.models import Copilot, LimitScope, SubjectLimits
from copilot_admin.storage.selects import member

MOST_LOOKED_AT = 50  # subjects; the page of limits has all


@dataclass(frozen=True, slots=True, kw_only=True)
class NearLimitRow:
    """Somebody who has used most of what he may."""

    name: str
    per_cent: int


def near_limits() -> list[NearLimitRow]:
    """The limits that are used to 80 % or more, the fullest first; those that each of several has are left out."""
    rules = [rule for subject, limits in _set() for rule in rules_of(subject, limits)]
    use = use_of(rules) if rules else {}
    fullest: dict[LimitSubject, int] = {}
    for rule in rules:
        per_cent = _per_cent(rule, use[rule])
        if per_cent >= 100 * SHARE:
            fullest[rule.subject] = max(per_cent, fullest.get(rule.subject, 0))
    order = sorted(fullest.items(), key=lambda one: -one[1])
    names = names_of(fullest)
    return [NearLimitRow(name=names[one], per_cent=number) for one, number in order if one in names]


def _set() -> Iterator[tuple[LimitSubject, dict[str, int | float]]]:
    copilots = Copilot.objects.in_use().exclude(limits={}).values_list("pk", "limits")
    for pk, limits in copilots[:MOST_LOOKED_AT]:
        yield LimitSubject(LimitScope.COPILOT, str(pk)), limits
    rows = SubjectLimits.objects.exclude(limits={}).values_list("scope", "subject", "limits")
    for scope, id, limits in rows[:MOST_LOOKED_AT]:
        if id or scope == LimitScope.SERVER:
            yield LimitSubject(member(LimitScope, scope), id), limits


def _per_cent(rule: LimitRule, use: LimitUse) -> int:
    return min(100, 100 * use.used // rule.most)
