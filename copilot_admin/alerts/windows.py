"""How far back a rule looks. Pure; hours and days are those of UTC, as in the rollups."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.review.periods import DAY, HOUR, Span


class Window(StrEnum):
    """A while that ends now, or the day or month that it is."""

    ONE_HOUR = "1h"
    THREE_HOURS = "3h"
    SIX_HOURS = "6h"
    TWELVE_HOURS = "12h"
    ONE_DAY = "24h"
    ONE_WEEK = "7d"
    TODAY = "day"
    MONTH = "month"


WINDOWS: Mapping[Window, str | Promise] = {
    Window.ONE_HOUR: _("1 hour"),
    Window.THREE_HOURS: _("3 hours"),
    Window.SIX_HOURS: _("6 hours"),
    Window.TWELVE_HOURS: _("12 hours"),
    Window.ONE_DAY: _("24 hours"),
    Window.ONE_WEEK: _("7 days"),
    Window.TODAY: _("a day (UTC)"),
    Window.MONTH: _("a month (UTC)"),
}
_HOURS: Mapping[Window, int] = {
    Window.ONE_HOUR: 1,
    Window.THREE_HOURS: 3,
    Window.SIX_HOURS: 6,
    Window.TWELVE_HOURS: 12,
    Window.ONE_DAY: 24,
    Window.ONE_WEEK: 7 * 24,
}
SHORT = (Window.ONE_HOUR, Window.THREE_HOURS, Window.SIX_HOURS, Window.TWELVE_HOURS, Window.ONE_DAY)


def span_of(window: Window, at: datetime) -> Span:
    """The full hours of a window, and the one that runs."""
    at = at.astimezone(UTC)
    hour = at.replace(minute=0, second=0, microsecond=0)
    midnight = hour.replace(hour=0)
    match window:
        case Window.TODAY:
            return Span(midnight, midnight + DAY)
        case Window.MONTH:
            first = midnight.replace(day=1)
            return Span(first, (first + timedelta(days=32)).replace(day=1))
    return Span(hour - _HOURS[window] * HOUR, hour + HOUR)
