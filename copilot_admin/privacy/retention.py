"""Retention of transcripts: one removal for each copilot and night."""

from datetime import datetime, time, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.audit.recording import Actor
from copilot_admin.models import Cause, Copilot, Removal
from copilot_admin.privacy.rows import count_conversations
from copilot_admin.privacy.scopes import PrivacyScope, record_removal


def describe_retention(copilot: Copilot) -> str:
    days = copilot.retention_days
    if not days:
        return _("Conversations are stored without a time limit.")
    text = ngettext(
        "Conversations are deleted after %(n)d day without activity.",
        "Conversations are deleted after %(n)d days without activity.",
        days,
    )
    return text % {"n": days}


def begin_pruning(now: datetime) -> list[int]:
    """Begin the removals that are due, and return their ids; several processes begin each only once."""
    local = timezone.localtime(now)
    night = local.replace(hour=settings.PRUNE_HOUR, minute=0, second=0, microsecond=0)
    if local < night:
        return []
    begun = Removal.objects.filter(cause=Cause.RETENTION, day=night.date(), copilot__isnull=False)
    limited = Copilot.objects.filter(retention_days__isnull=False, deletion_requested_at=None)
    due = limited.exclude(pk__in=begun.values("copilot"))
    found = [
        _begin(get_expired_scope(pk, days or 0, night), night)
        for pk, days in list(due.values_list("pk", "retention_days"))
    ]
    return [pk for pk in found if pk is not None]


def get_expired_scope(copilot_id: int, days: int, at: datetime) -> PrivacyScope:
    """Select the transcripts of a copilot that have been inactive for longer than they are kept."""
    midnight = datetime.combine(timezone.localdate(at), time.min, timezone.get_current_timezone())
    return PrivacyScope(copilot=copilot_id, idle_before=midnight - timedelta(days=days))


def begin_now(copilot_id: int, days: int, now: datetime) -> Removal:
    """Begin the removal of a night at once, also if it was done already."""
    scope = get_expired_scope(copilot_id, days, now)
    return Removal.objects.create(cause=Cause.RETENTION, copilot=copilot_id, **_get_columns(scope))


@transaction.atomic
def _begin(scope: PrivacyScope, night: datetime) -> int | None:
    removal, is_new = Removal.objects.get_or_create(
        cause=Cause.RETENTION,
        copilot=scope.copilot,
        day=night.date(),
        defaults=_get_columns(scope),
    )
    if is_new and removal.total:
        record_removal(removal, by=Actor.server())
    return removal.pk if is_new else None


def _get_columns(scope: PrivacyScope) -> dict[str, Any]:
    return {
        "idle_before": scope.idle_before,
        "with_questions": False,
        "total": count_conversations(scope),
        "moved_at": timezone.now(),
    }
