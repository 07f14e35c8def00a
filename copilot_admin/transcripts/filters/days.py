"""Filters by when it was asked."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from copilot_admin.transcripts.filters.filter import (
    FilterControl,
    Index,
    Label,
    NoSuchValue,
    TranscriptFilter,
)

PERIODS: Mapping[str, Label] = {
    "1": _("Today"),
    "7": _("Last 7 days"),
    "30": _("Last 30 days"),
    "90": _("Last 90 days"),
}


def _days(text: str) -> Q:
    if text not in PERIODS:
        raise NoSuchValue(text)
    today = datetime.combine(timezone.now().date(), time.min, UTC)
    return Q(last_at__gte=today - timedelta(days=int(text) - 1))


def _midnight(text: str, *, after: int = 0) -> datetime:
    try:
        day = datetime.combine(date.fromisoformat(text), time.min, UTC)
    except ValueError as error:
        raise NoSuchValue(text) from error
    last = datetime.max.replace(tzinfo=UTC)  # "to 9999-12-31" is without an end
    return day + timedelta(days=after) if day.date() < last.date() else last


DAYS: tuple[TranscriptFilter, ...] = (
    TranscriptFilter(
        name="days",
        label=_("Period"),
        widget=FilterControl.CHOICE,
        condition=_days,
        choices=PERIODS.items,
        index=Index.SPAN,
        is_cheap=True,
    ),
    TranscriptFilter(
        name="since",
        label=_("From"),
        widget=FilterControl.DATE,
        condition=lambda text: Q(last_at__gte=_midnight(text)),
        index=Index.SPAN,
        is_cheap=True,
    ),
    TranscriptFilter(
        name="until",
        begins_at="since",
        label=_("To"),
        widget=FilterControl.DATE,
        condition=lambda text: Q(last_at__lt=_midnight(text, after=1)),
        index=Index.SPAN,
        is_cheap=True,
    ),
)
