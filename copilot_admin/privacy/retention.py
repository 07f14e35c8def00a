"""When a copilot's time is up: one removal for each copilot and night; writes."""

from collections.abc import Callable
from datetime import datetime, time, timedelta
from functools import partial
import operator

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.audit.parties import Actor
from copilot_admin.models import Cause, Copilot, Removal
from copilot_admin.privacy.counting import begun_with
from copilot_admin.privacy.scopes import PrivacyScope
from copilot_admin.privacy.trail import record_removal


def night_of(now: datetime) -> datetime | None:
    """The moment of the last night's pruning; None: it is not yet time on this day.

    Args:
        now: In any zone; nights are of the server's.
    """
    here = timezone.localtime(now)
    begins = here.replace(hour=settings.PRUNE_HOUR, minute=0, second=0, microsecond=0)
    return begins if here >= begins else None


def retention_sentence(copilot: Copilot) -> str:
    """For how long the transcripts of a copilot are kept, in words."""
    days = copilot.retention_days
    if not days:
        return _("No time is set after which they are deleted.")
    text = ngettext(
        "They are deleted after %(n)d day of silence.",
        "They are deleted after %(n)d days of silence.",
        days,
    )
    return text % {"n": days}


def begin_pruning(
    now: datetime, *, write: Callable[[Callable[[], int | None]], int | None] = operator.call
) -> list[int]:
    """Begins what is due and was not begun yet; two that do so at once begin it once.

    Args:
        now: In any zone.
        write: Does what writes, for each copilot by itself. What is due is counted outside of it: that
            takes a moment for each, in which nobody is to wait for the writer.

    Returns:
        The ids of the removals that were begun.
    """
    night = night_of(now)
    if night is None:
        return []
    begun = set(
        Removal.objects.filter(cause=Cause.RETENTION, day=night.date()).values_list(
            "copilot", flat=True
        )
    )
    limited = Copilot.objects.filter(retention_days__isnull=False, deletion_requested_at=None)
    due = limited.exclude(pk__in=[pk for pk in begun if pk is not None])
    ids = []
    for pk, days in list(due.values_list("pk", "retention_days")):
        scope = scope_of_copilot(pk, days or 0, night)
        removal = write(partial(_begin, scope, night, begun_with(scope)))
        if removal is not None:
            ids.append(removal)
    return ids


def scope_of_copilot(copilot_id: int, days: int, at: datetime) -> PrivacyScope:
    """What of a copilot has been silent for longer than it is kept."""
    midnight = datetime.combine(timezone.localdate(at), time.min, timezone.get_current_timezone())
    return PrivacyScope(copilot=copilot_id, idle_before=midnight - timedelta(days=days))


def begin_now(copilot_id: int, days: int, now: datetime) -> Removal:
    """Begins what a night would, whatever was done this night."""
    scope = scope_of_copilot(copilot_id, days, now)
    return Removal.objects.create(
        cause=Cause.RETENTION,
        copilot=copilot_id,
        idle_before=scope.idle_before,
        with_questions=False,
        total=begun_with(scope),
        moved_at=timezone.now(),
    )


@transaction.atomic
def _begin(scope: PrivacyScope, night: datetime, total: int) -> int | None:
    removal, is_new = Removal.objects.get_or_create(
        cause=Cause.RETENTION,
        copilot=scope.copilot,
        day=night.date(),
        defaults={
            "idle_before": scope.idle_before,
            "with_questions": False,
            "total": total,
            "moved_at": timezone.now(),
        },
    )
    if is_new and removal.total:
        record_removal(removal, by=Actor.server())
    return removal.pk if is_new else None
