"""Usage of limits: what is used now, as meters, nearly reached limits, and recent rejections."""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from ipaddress import ip_address
import re
from typing import Any

from asgiref.sync import async_to_sync
from django.db.models import Max, Min, Sum
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from copilot_admin.limits.admission import RETENTION
from copilot_admin.limits.counters import RATE_LIMITS, SLOTS
from copilot_admin.limits.rules import KINDS, NANO, LimitRule, LimitSubject, build_rules
from copilot_admin.limits.usage import (
    Usage,
    get_budgets,
    is_shared_address,
    load_limits,
    load_usage,
)
from copilot_admin.models import Copilot, EndpointKey, LimitRejection, LimitScope
from copilot_admin.models.usage import MAX_LIMIT_SUBJECT_LENGTH

NEAR_PERCENT = 80
MAX_CHECKED = 100  # subjects; the page of limits has all
MAX_SHOWN = 50  # rejections
# Ids by scope; without one, the limits apply to each subject of the scope.
_IDS: Mapping[str, re.Pattern[str]] = {
    LimitScope.SERVER: re.compile(""),
    LimitScope.COPILOT: re.compile("[1-9][0-9]{0,17}"),
    LimitScope.KEY: re.compile("|[1-9][0-9]{0,17}"),
    LimitScope.USER: re.compile(rf"|\S(.{{0,{MAX_LIMIT_SUBJECT_LENGTH - 2}}}\S)?"),
    LimitScope.ADDRESS: re.compile("[0-9A-Fa-f:.]{0,45}"),
}
_DEFAULT_NAMES = {  # of subjects without an id
    LimitScope.SERVER: gettext_lazy("Whole server"),
    LimitScope.KEY: gettext_lazy("Default per API key"),
    LimitScope.USER: gettext_lazy("Default per user"),
    LimitScope.ADDRESS: gettext_lazy("Default per IP address (anonymous callers)"),
}


def build_meter(rule: LimitRule, usage: tuple[int, int] | None) -> dict[str, object]:
    """Return a limit with its usage; without one, it applies to each of several subjects."""
    maximum = _format_amount(rule, rule.maximum)
    if usage is None:
        return {"label": rule.kind.label, "text": _("%(maximum)s each") % {"maximum": maximum}}
    used, unpriced = usage
    percent = min(100, 100 * used // rule.maximum)
    note = ngettext(
        "%(count)d answer isn't included: its model has no price.",
        "%(count)d answers aren't included: their models have no price.",
        unpriced,
    )
    values = {"used": _format_amount(rule, used), "maximum": maximum}
    return {
        "label": rule.kind.label,
        "text": _("%(used)s of %(maximum)s") % values,
        "percent": percent,
        "tone": "bad" if percent >= 100 else "warn" if percent >= NEAR_PERCENT else "",
        "note": note % {"count": unpriced} if unpriced else "",
    }


def measure_usage(rules: Collection[LimitRule]) -> Mapping[LimitRule, tuple[int, int]]:
    """Read the used amount of rules, and of budgets of money the answers of unknown cost."""
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


def find_near_limits() -> list[tuple[str, int]]:
    """Find subjects whose limits are used to 80 % or more, the fullest first, with the percent."""
    limits = load_limits()  # without an id they apply to each subject, except for the server's
    checked = [one for one in limits if one.id or one.scope is LimitScope.SERVER][:MAX_CHECKED]
    rules = [rule for subject in checked for rule in build_rules(subject, limits[subject])]
    usage = measure_usage(rules) if rules else {}
    fullest: dict[LimitSubject, int] = {}
    for rule in rules:
        percent = min(100, 100 * usage[rule][0] // rule.maximum)
        if percent >= NEAR_PERCENT:
            fullest[rule.subject] = max(percent, fullest.get(rule.subject, 0))
    names = get_names(fullest)
    return [
        (names[subject], percent)
        for subject, percent in sorted(fullest.items(), key=lambda one: -one[1])
        if subject in names
    ]


def _format_amount(rule: LimitRule, number: int) -> str:
    if not rule.counts_money:
        return number_format(number, force_grouping=True)
    dollars = Decimal(number) / NANO
    places = 2 if dollars >= 1 or not dollars else 6
    return f"${number_format(dollars.quantize(Decimal(1).scaleb(-places)), force_grouping=True)}"


def load_rejections() -> list[dict[str, Any]]:
    """Load the rejections of the last days by subject and limit, the newest first."""
    found = (
        LimitRejection.objects.filter(minute__gte=timezone.now() - RETENTION)
        .values("scope", "subject", "kind")
        .annotate(number=Sum("number"), first_at=Min("minute"), last_at=Max("last_at"))
        .order_by("-last_at")[:MAX_SHOWN]
    )
    subjects = [LimitSubject(LimitScope(row["scope"]), row["subject"]) for row in found]
    names = get_names({subject for subject in subjects if subject.id})
    return [
        {
            **row,
            "subject": subject,
            "name": names.get(subject, _("Unknown") if subject.id else ""),
            "limit": KINDS[row["kind"]].label,
        }
        for row, subject in zip(found, subjects, strict=True)
    ]


def get_advice(subjects: Iterable[LimitSubject]) -> str:
    """Return what to do about a reverse proxy whose address is limited; "" if there is none."""
    for subject in subjects:
        is_address = subject.scope is LimitScope.ADDRESS and bool(subject.id)
        if is_address and is_shared_address(subject.id):
            return _(
                "Requests from the private IP address %(address)s were rejected, and no trusted "
                "proxies are configured. If it is your reverse proxy, all its users share one "
                "limit: set FORWARDED_ALLOW_IPS to the address of the proxy and restart the server."
            ) % {"address": subject.id}
    return ""


def parse_subject(text: str) -> LimitSubject | None:
    """Parse a subject from a URL or form; None if it isn't valid. Reads no database."""
    scope, _colon, id = text.partition(":")
    if scope not in _IDS or not _IDS[scope].fullmatch(id) or not id.isprintable():
        return None
    if scope == LimitScope.ADDRESS and id:
        try:
            ip_address(id)
        except ValueError:
            return None
    return LimitSubject(LimitScope(scope), id)


def get_names(subjects: Collection[LimitSubject]) -> Mapping[LimitSubject, str]:
    """Return names for people, without copilots and keys that are gone; two queries at most."""
    names = {one: one.id or str(_DEFAULT_NAMES.get(one.scope, "")) for one in subjects}
    copilots, keys = Copilot.objects.only("name"), EndpointKey.objects.all()
    for scope, rows in ((LimitScope.COPILOT, copilots), (LimitScope.KEY, keys)):
        ids = [int(one.id) for one in subjects if one.scope is scope and one.id]
        found: Mapping[int, object] = rows.in_bulk(ids) if ids else {}
        names |= {LimitSubject(scope, str(pk)): str(found.get(pk, "")) for pk in ids}
    return {subject: name for subject, name in names.items() if name}
