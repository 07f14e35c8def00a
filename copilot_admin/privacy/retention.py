"""When a copilot's time is up: one removal for each copilot and night; writes."""

from datetime import datetime, time, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.audit.actor import Actor
from copilot_admin.models import Cause, Conversation, Copilot, Removal
from copilot_admin.privacy.counting import to_be_removed
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


def begin_pruning(now: datetime) -> list[int]:
    """Begins what is due and was not begun yet; two that do so at once begin it once.

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
    return [
        removal
        for pk, days in limited.exclude(pk__in=[pk for pk in begun if pk is not None]).values_list(
            "pk", "retention_days"
        )
        if (removal := _begin(pk, days or 0, night)) is not None
    ]


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
        total=Conversation.objects.filter(to_be_removed(scope)).count(),
        moved_at=timezone.now(),
    )


@transaction.atomic
def _begin(copilot_id: int, days: int, night: datetime) -> int | None:
    scope = scope_of_copilot(copilot_id, days, night)
    removal, is_new = Removal.objects.get_or_create(
        cause=Cause.RETENTION,
        copilot=copilot_id,
        day=night.date(),
        defaults={
            "idle_before": scope.idle_before,
            "with_questions": False,
            "total": Conversation.objects.filter(to_be_removed(scope)).count(),
            "moved_at": timezone.now(),
        },
    )
    if is_new and removal.total:
        record_removal(removal, by=Actor.server())
    return removal.pk if is_new else None
