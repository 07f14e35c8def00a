"""Tasks of the home page: what is wrong or waiting, for those who may act on it."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, Max, Q, Sum
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.admin.analytics.cards import name_error
from copilot_admin.admin.analytics.scope import CONVERSATIONS
from copilot_admin.admin.home.copilots import Copilots
from copilot_admin.admin.limits.usage import find_near_limits
from copilot_admin.alerts.rules import filter_visible
from copilot_admin.copilots.providers import unset_keys
from copilot_admin.copilots.status import CopilotState
from copilot_admin.models import (
    Alert,
    Conversation,
    EndpointKey,
    ErrorUsage,
    EvaluationResult,
    EvaluationRun,
    ResultVerdict,
    ReviewState,
    RunState,
)
from copilot_admin.pricing.prices import find_unpriced_models

MAX_NAMES = 3
MAX_FAILING = 3
MAX_COUNTED = 100
KEY_WARNING = timedelta(days=14)  # time enough to replace a key everywhere
APP = "admin:copilot_admin"


class Task(NamedTuple):
    """Something to do; `tone` is the class of the icon's color."""

    key: str
    title: str
    detail: str
    url: str
    button: str
    icon: str
    tone: str = "ca-bad"


def find_tasks(user: User, copilots: Copilots | None) -> list[Task]:
    """Return the tasks of a user, the most urgent first."""
    may_edit = copilots is not None and user.has_perm("copilot_admin.change_copilot")
    tasks: list[Task] = []
    if user.has_perm("copilot_admin.view_alert"):
        tasks += _alerts(user)
    if copilots and may_edit:
        tasks += _broken(copilots)
        tasks += _failing_tests(copilots)
    if user.has_perm("copilot_admin.change_provider"):
        tasks += _missing_keys()
    if user.has_perm("copilot_admin.view_conversation"):
        tasks += _errors(copilots) if copilots else ()
        tasks += _thumbs_down()
    if user.has_perm("copilot_admin.change_subjectlimits"):
        tasks += _limits()
    if user.has_perm("copilot_admin.add_endpointkey"):
        tasks += _expiring_keys()
    if copilots and may_edit:
        tasks += _changed(copilots)
    if user.has_perm("copilot_admin.add_modelprice"):
        tasks += _unpriced()
    return tasks


def _names(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMES
    text = ", ".join(names[:MAX_NAMES])
    return _("%(names)s and %(n)d more") % {"names": text, "n": more} if more > 0 else text


def _alerts(user: User) -> Iterator[Task]:
    rows = filter_visible(user, Alert.objects.filter(closed_at=None))
    if found := list(rows.order_by("-opened_at", "-pk")[:MAX_COUNTED]):
        title = ngettext("%(n)d open alert", "%(n)d open alerts", len(found)) % {"n": len(found)}
        url = f"{reverse(f'{APP}_alert_changelist')}?state=open"
        if len(found) == 1:
            url = reverse(f"{APP}_alert_change", args=[found[0].pk])
        yield Task("alerts", title, found[0].sentence, url, _("View"), "bell")


def _broken(copilots: Copilots) -> Iterator[Task]:
    for copilot, status in copilots.in_state(CopilotState.BROKEN)[:MAX_FAILING]:
        title = _("%(name)s can't answer") % {"name": copilot.name}
        url = reverse(f"{APP}_copilot_change", args=[copilot.pk])
        yield Task("broken", title, status.problem, url, _("Fix"), "alert")


def _failing_tests(copilots: Copilots) -> Iterator[Task]:
    """Yield the copilots whose newest whole test run has failures."""
    names = {copilot.pk: copilot.name for copilot, _status in copilots.statuses}
    whole = EvaluationRun.objects.filter(
        copilot__in=names, is_partial=False, state=RunState.DONE
    ).order_by()
    runs = {run: pk for pk, run in whole.values_list("copilot").annotate(newest=Max("pk"))}
    results = EvaluationResult.objects.filter(run__in=runs).order_by("run").values_list("run")
    is_failed = Q(verdict__in=(ResultVerdict.FAILED, ResultVerdict.ERROR))
    sums = results.annotate(total=Count("pk"), failed=Count("pk", filter=is_failed))
    for run, total, failed in sums.filter(failed__gt=0)[:MAX_FAILING]:
        title = ngettext("%(n)d of %(total)d test fails", "%(n)d of %(total)d tests fail", total)
        title %= {"n": failed, "total": total}
        url = reverse(f"{APP}_copilot_tests", args=[runs[run]])
        yield Task("tests", title, names[runs[run]], url, _("View"), "flask")


def _missing_keys() -> Iterator[Task]:
    if found := unset_keys():
        title = ngettext(
            "%(n)d provider has no API key", "%(n)d providers have no API key", len(found)
        )
        title, detail = title % {"n": len(found)}, " ".join(found[:MAX_NAMES])
        url = reverse(f"{APP}_provider_changelist")
        yield Task("provider-keys", title, detail, url, _("Add key"), "key")


def _errors(copilots: Copilots) -> Iterator[Task]:
    """Yield the copilots with the most errors of today and yesterday."""
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    yesterday = today - timedelta(days=1)
    counts = {
        copilot: copilots.weeks[copilot.pk].sum("errors", last=2)
        for copilot, _status in copilots.statuses
        if copilot.pk in copilots.weeks
    }
    failing = sorted(filter(counts.__getitem__, counts), key=lambda one: -counts[one])[:MAX_FAILING]
    kinds = ErrorUsage.objects.filter(hour__gte=yesterday, copilot__in=failing)
    sums = kinds.values_list("copilot", "code").annotate(times=Sum("number")).order_by("times")
    most_frequent = {copilot: code for copilot, code, _times in sums}
    for copilot in failing:
        title = ngettext("%(n)d error in %(name)s", "%(n)d errors in %(name)s", counts[copilot])
        title %= {"n": counts[copilot], "name": copilot.name}
        detail = name_error(most_frequent.get(copilot.pk, "")) or _("Since yesterday")
        days = f"since={yesterday:%Y-%m-%d}&until={today:%Y-%m-%d}"
        url = f"{reverse(CONVERSATIONS)}?copilot={copilot.slug}&outcome=any-failed&{days}"
        yield Task("errors", title, detail, url, _("View"), "fail")


def _thumbs_down() -> Iterator[Task]:
    rows = Conversation.objects.of_callers().filter(n_down__gt=0, review_state=ReviewState.NEW)
    if found := rows.order_by("-last_at", "-id").values_list("last_at", flat=True)[:MAX_COUNTED]:
        number = f"{len(found) - 1}+" if len(found) == MAX_COUNTED else str(len(found))
        title = ngettext(
            "%(n)s conversation with thumbs down isn't reviewed",
            "%(n)s conversations with thumbs down aren't reviewed",
            len(found),
        )
        oldest = date_format(timezone.localtime(list(found)[-1]), "j F")
        detail = _("Oldest from %(day)s") % {"day": oldest}
        url = f"{reverse(CONVERSATIONS)}?judged=down&state={ReviewState.NEW}"
        title %= {"n": number}
        yield Task("thumbs-down", title, detail, url, _("Review"), "thumb-down", "ca-warn")


def _limits() -> Iterator[Task]:
    if found := find_near_limits():
        title = ngettext(
            "%(n)d limit is nearly reached", "%(n)d limits are nearly reached", len(found)
        )
        detail = _names([f"{name} ({percent}%)" for name, percent in found])
        url, title = reverse("admin:limits"), title % {"n": len(found)}
        yield Task("limits", title, detail, url, _("View"), "limit", "ca-warn")


def _expiring_keys() -> Iterator[Task]:
    now = timezone.now()
    found = EndpointKey.objects.valid(at=now).filter(expires_at__lt=now + KEY_WARNING)
    if rows := list(found.order_by("expires_at").values_list("name", "expires_at")):
        days = max(0, ((rows[0][1] or now) - now).days)
        title = ngettext(
            "An API key expires in %(n)d day", "An API key expires in %(n)d days", days
        ) % {"n": days}
        if len(rows) > 1:
            title = _("%(n)d API keys expire soon") % {"n": len(rows)}
        detail = _names([name for name, _expires in rows])
        url = reverse(f"{APP}_endpointkey_changelist")
        yield Task("expiring-keys", title, detail, url, _("Renew"), "key", "ca-warn")


def _changed(copilots: Copilots) -> Iterator[Task]:
    if found := [copilot for copilot, _s in copilots.in_state(CopilotState.CHANGED)]:
        title = ngettext(
            "%(name)s has unpublished changes",
            "%(n)d copilots have unpublished changes",
            len(found),
        )
        title %= {"n": len(found), "name": found[0].name}
        detail, button = _names([one.name for one in found]), _("View")
        url = f"{reverse(f'{APP}_copilot_changelist')}?state={CopilotState.CHANGED}"
        if len(found) == 1:
            edited = date_format(timezone.localtime(found[0].updated_at), "j F")
            detail, button = _("Edited on %(day)s") % {"day": edited}, _("Compare")
            url = reverse(f"{APP}_copilot_compare", args=[found[0].pk])
        yield Task("changes", title, detail, url, button, "edit", "ca-muted")


def _unpriced() -> Iterator[Task]:
    if names := list(dict.fromkeys(one.model for one in find_unpriced_models())):
        title = ngettext("%(name)s has no price", "%(n)d models have no price", len(names))
        title %= {"n": len(names), "name": Truncator(names[0]).chars(40)}
        detail = _("Its answers have no cost") if len(names) == 1 else _names(names)
        url = reverse(f"{APP}_modelprice_changelist")
        yield Task("prices", title, detail, url, _("Add price"), "dollar", "ca-muted")
