"""How far back a rule looks. Pure; hours and days are those of UTC, as in the rollups."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.transcripts.search.periods import DAY, HOUR, Span


class AlertWindow(StrEnum):
    """A while that ends now, or the day or month that it is."""

    ONE_HOUR = "1h"
    THREE_HOURS = "3h"
    SIX_HOURS = "6h"
    TWELVE_HOURS = "12h"
    ONE_DAY = "24h"
    ONE_WEEK = "7d"
    TODAY = "day"
    MONTH = "month"


WINDOWS: Mapping[AlertWindow, str | Promise] = {
    AlertWindow.ONE_HOUR: _("1 hour"),
    AlertWindow.THREE_HOURS: _("3 hours"),
    AlertWindow.SIX_HOURS: _("6 hours"),
    AlertWindow.TWELVE_HOURS: _("12 hours"),
    AlertWindow.ONE_DAY: _("24 hours"),
    AlertWindow.ONE_WEEK: _("7 days"),
    AlertWindow.TODAY: _("a day (UTC)"),
    AlertWindow.MONTH: _("a month (UTC)"),
}
_HOURS: Mapping[AlertWindow, int] = {
    AlertWindow.ONE_HOUR: 1,
    AlertWindow.THREE_HOURS: 3,
    AlertWindow.SIX_HOURS: 6,
    AlertWindow.TWELVE_HOURS: 12,
    AlertWindow.ONE_DAY: 24,
    AlertWindow.ONE_WEEK: 7 * 24,
}
SHORT = (
    AlertWindow.ONE_HOUR,
    AlertWindow.THREE_HOURS,
    AlertWindow.SIX_HOURS,
    AlertWindow.TWELVE_HOURS,
    AlertWindow.ONE_DAY,
)


def span_of(window: AlertWindow, at: datetime) -> Span:
    """The full hours of a window, and the one that runs."""
    at = at.astimezone(UTC)
    hour = at.replace(minute=0, second=0, microsecond=0)
    midnight = hour.replace(hour=0)
    match window:
        case AlertWindow.TODAY:
            return Span(midnight, midnight + DAY)
        case AlertWindow.MONTH:
            first = midnight.replace(day=1)
            return Span(first, (first + timedelta(days=32)).replace(day=1))
    return Span(hour - _HOURS[window] * HOUR, hour + HOUR)
