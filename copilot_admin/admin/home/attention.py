"""Tasks of the home page: what is wrong or waiting, for those who may act on it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Something to do; `tone` is the class of the icon's color."""

    key: str
    title: str
    detail: str
    url: str
    button: str
    icon: str
    tone: str = "ca-warn"


def find_tasks(user: User, copilots: Copilots | None) -> list[Task]:
    """Return the tasks of a user, the most urgent first."""
    tasks: list[Task] = []
    if user.has_perm("copilot_admin.view_alert"):
        tasks += _alerts(user)
    if copilots and user.has_perm("copilot_admin.change_copilot"):
        tasks += _broken(copilots)
        tasks += _failing_tests(copilots)
    if user.has_perm("copilot_admin.change_provider"):
        tasks += _missing_keys()
    if user.has_perm("copilot_admin.view_conversation"):
        tasks += _errors(copilots)
        tasks += _thumbs_down()
    if user.has_perm("copilot_admin.change_subjectlimits"):
        tasks += _limits()
    if user.has_perm("copilot_admin.add_endpointkey"):
        tasks += _expiring_keys()
    if copilots and user.has_perm("copilot_admin.change_copilot"):
        tasks += _changed(copilots)
    if user.has_perm("copilot_admin.add_modelprice"):
        tasks += _unpriced()
    return tasks


def _names(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMES
    text = ", ".join(names[:MAX_NAMES])
    return _("%(names)s and %(n)d more") % {"names": text, "n": more} if more > 0 else text


def _alerts(user: User) -> Iterator[Task]:
    found = list(
        filter_visible(user, Alert.objects.filter(closed_at=None)).order_by("-opened_at", "-pk")[
            :MAX_COUNTED
        ]
    )
    if found:
        number = len(found)
        one = reverse(f"{APP}_alert_change", args=[found[0].pk])
        yield Task(
            key="alerts",
            title=ngettext("%(n)d open alert", "%(n)d open alerts", number) % {"n": number},
            detail=found[0].sentence,
            url=one if number == 1 else f"{reverse(f'{APP}_alert_changelist')}?state=open",
            button=_("View"),
            icon="bell",
            tone="ca-bad",
        )


def _broken(copilots: Copilots) -> Iterator[Task]:
    for copilot, status in copilots.in_state(CopilotState.BROKEN)[:MAX_FAILING]:
        yield Task(
            key="broken",
            title=_("%(name)s can't answer") % {"name": copilot.name},
            detail=status.problem,
            url=reverse(f"{APP}_copilot_change", args=[copilot.pk]),
            button=_("Fix"),
            icon="alert",
            tone="ca-bad",
        )


def _failing_tests(copilots: Copilots) -> Iterator[Task]:
    """Yield the copilots whose newest whole test run has failures."""
    names = {copilot.pk: copilot.name for copilot, _status in copilots.statuses}
    newest = (
        EvaluationRun.objects.filter(copilot__in=names, is_partial=False, state=RunState.DONE)
        .order_by()
        .values_list("copilot")
        .annotate(newest=Max("pk"))
    )
    runs = {run: copilot for copilot, run in newest}
    results = EvaluationResult.objects.filter(run__in=runs).order_by("run").values_list("run")
    is_failed = Q(verdict__in=(ResultVerdict.FAILED, ResultVerdict.ERROR))
    sums = results.annotate(total=Count("pk"), failed=Count("pk", filter=is_failed))
    for run, total, failed in sums.filter(failed__gt=0)[:MAX_FAILING]:
        title = ngettext("%(n)d of %(total)d test fails", "%(n)d of %(total)d tests fail", total)
        yield Task(
            key="tests",
            title=title % {"n": failed, "total": total},
            detail=names[runs[run]],
            url=reverse(f"{APP}_copilot_tests", args=[runs[run]]),
            button=_("View"),
            icon="flask",
            tone="ca-bad",
        )


def _missing_keys() -> Iterator[Task]:
    if found := unset_keys():
        yield Task(
            key="provider-keys",
            title=ngettext(
                "%(n)d provider has no API key", "%(n)d providers have no API key", len(found)
            )
            % {"n": len(found)},
            detail=" ".join(found[:MAX_NAMES]),
            url=reverse(f"{APP}_provider_changelist"),
            button=_("Add key"),
            icon="key",
            tone="ca-bad",
        )


def _errors(copilots: Copilots | None) -> Iterator[Task]:
    """Yield the copilots with the most errors of today and yesterday."""
    if not copilots:
        return
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    yesterday = today - timedelta(days=1)
    failing = [
        (copilot, copilots.weeks[copilot.pk].sum("errors", last=2))
        for copilot, _status in copilots.statuses
        if copilot.pk in copilots.weeks
    ]
    failing = sorted((row for row in failing if row[1]), key=lambda row: -row[1])[:MAX_FAILING]
    if not failing:
        return
    kinds = ErrorUsage.objects.filter(hour__gte=yesterday, copilot__in=[row[0] for row in failing])
    sums = kinds.values_list("copilot", "code").annotate(times=Sum("number")).order_by("times")
    most_frequent = {copilot: code for copilot, code, _times in sums}
    for copilot, number in failing:
        title = ngettext("%(n)d error in %(name)s", "%(n)d errors in %(name)s", number)
        days = f"since={yesterday:%Y-%m-%d}&until={today:%Y-%m-%d}"
        yield Task(
            key="errors",
            title=title % {"n": number, "name": copilot.name},
            detail=name_error(most_frequent.get(copilot.pk, "")) or _("Since yesterday"),
            url=f"{reverse(CONVERSATIONS)}?copilot={copilot.pk}&outcome=any-failed&{days}",
            button=_("View"),
            icon="fail",
            tone="ca-bad",
        )


def _thumbs_down() -> Iterator[Task]:
    rows = Conversation.objects.of_callers().filter(n_down__gt=0, review_state=ReviewState.NEW)
    found = list(rows.order_by("-last_at", "-id").values_list("last_at", flat=True)[:MAX_COUNTED])
    if found:
        number = f"{len(found) - 1}+" if len(found) == MAX_COUNTED else str(len(found))
        oldest = date_format(timezone.localtime(found[-1]), "j F")
        yield Task(
            key="thumbs-down",
            title=ngettext(
                "%(n)s conversation with thumbs down isn't reviewed",
                "%(n)s conversations with thumbs down aren't reviewed",
                len(found),
            )
            % {"n": number},
            detail=_("Oldest from %(day)s") % {"day": oldest},
            url=f"{reverse(CONVERSATIONS)}?judged=down&state={ReviewState.NEW}",
            button=_("Review"),
            icon="thumb-down",
        )


def _limits() -> Iterator[Task]:
    if found := find_near_limits():
        names = [f"{name} ({percent}%)" for name, percent in found]
        title = ngettext(
            "%(n)d limit is nearly reached", "%(n)d limits are nearly reached", len(found)
        )
        yield Task(
            key="limits",
            title=title % {"n": len(found)},
            detail=_names(names),
            url=reverse("admin:limits"),
            button=_("View"),
            icon="limit",
        )


def _expiring_keys() -> Iterator[Task]:
    now = timezone.now()
    found = EndpointKey.objects.valid(at=now).filter(expires_at__lt=now + KEY_WARNING)
    rows = list(found.order_by("expires_at").values_list("name", "expires_at"))
    if rows:
        days = max(0, ((rows[0][1] or now) - now).days)
        one = ngettext("An API key expires in %(n)d day", "An API key expires in %(n)d days", days)
        title = one % {"n": days}
        if len(rows) > 1:
            title = _("%(n)d API keys expire soon") % {"n": len(rows)}
        yield Task(
            key="expiring-keys",
            title=title,
            detail=_names([name for name, _expires in rows]),
            url=reverse(f"{APP}_endpointkey_changelist"),
            button=_("Renew"),
            icon="key",
        )


def _changed(copilots: Copilots) -> Iterator[Task]:
    if found := [copilot for copilot, _s in copilots.in_state(CopilotState.CHANGED)]:
        changes = f"{reverse(f'{APP}_copilot_changelist')}?state={CopilotState.CHANGED}"
        if len(found) == 1:
            changes = reverse(f"{APP}_copilot_compare", args=[found[0].pk])
        title = ngettext(
            "%(name)s has unpublished changes",
            "%(n)d copilots have unpublished changes",
            len(found),
        )
        edited = date_format(timezone.localtime(max(one.updated_at for one in found)), "j F")
        yield Task(
            key="changes",
            title=title % {"n": len(found), "name": found[0].name},
            detail=_("Edited on %(day)s") % {"day": edited}
            if len(found) == 1
            else _names([one.name for one in found]),
            url=changes,
            button=_("Compare") if len(found) == 1 else _("View"),
            icon="edit",
            tone="ca-muted",
        )


def _unpriced() -> Iterator[Task]:
    if found := find_unpriced_models():
        names = list(dict.fromkeys(one.model for one in found))
        title = ngettext("%(name)s has no price", "%(n)d models have no price", len(names))
        yield Task(
            key="prices",
            title=title % {"n": len(names), "name": Truncator(names[0]).chars(40)},
            detail=_("Its answers have no cost") if len(names) == 1 else _names(names),
            url=reverse(f"{APP}_modelprice_changelist"),
            button=_("Add price"),
            icon="dollar",
            tone="ca-muted",
        )
