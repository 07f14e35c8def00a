"""Values that every alert rule is made of: units, windows, scopes, measurements and kinds of rule."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from django.contrib.auth.models import PermissionsMixin
from django.db.models import Q, QuerySet, TextChoices
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.accounts.members import Person, reachable, reaches_all
from copilot_admin.analytics.periods import DAY, HOUR, Span
from copilot_admin.copilots.names import tagged
from copilot_admin.models import Alert, AlertDigest, AlertRule, Copilot

READ_TRANSCRIPTS = "copilot_admin.view_conversation"


class Unit(StrEnum):
    NUMBER = "number"
    PERCENT = "per cent"
    DOLLARS = "dollars"


def format_value(unit: Unit, value: Decimal) -> str:
    plain = f"{value:,.2f}".removesuffix(".00")
    match unit:
        case Unit.PERCENT:
            return _("%(share)s %%") % {"share": plain}
        case Unit.DOLLARS:
            return f"${value:,.2f}"
    return plain


class AlertWindow(TextChoices):
    """Period that a rule looks at: some hours that end now, or the current day or month."""

    ONE_HOUR = "1h", gettext_lazy("1 hour")
    THREE_HOURS = "3h", gettext_lazy("3 hours")
    SIX_HOURS = "6h", gettext_lazy("6 hours")
    TWELVE_HOURS = "12h", gettext_lazy("12 hours")
    ONE_DAY = "24h", gettext_lazy("24 hours")
    ONE_WEEK = "7d", gettext_lazy("7 days")
    TODAY = "day", gettext_lazy("a day (UTC)")
    MONTH = "month", gettext_lazy("a month (UTC)")


WINDOW_LABELS: Mapping[str, str | Promise] = dict(AlertWindow.choices)
_WINDOW_HOURS = dict(zip(AlertWindow, (1, 3, 6, 12, 24, 7 * 24), strict=False))
UP_TO_ONE_DAY = tuple(AlertWindow)[:5]


def window_span(window: AlertWindow, now: datetime) -> Span:
    """Return the full hours of a window and the current one; in UTC, like the rollups."""
    now = now.astimezone(UTC)
    hour = now.replace(minute=0, second=0, microsecond=0)
    midnight = hour.replace(hour=0)
    match window:
        case AlertWindow.TODAY:
            return Span(midnight, midnight + DAY)
        case AlertWindow.MONTH:
            first = midnight.replace(day=1)
            return Span(first, (first + timedelta(days=32)).replace(day=1))
    return Span(hour - _WINDOW_HOURS[window] * HOUR, hour + HOUR)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertScope:
    ids: tuple[int, ...] | None = None  # None means all
    label: str = ""
    filters: Mapping[str, str] = field(default_factory=dict)

    def select(self, column: str = "copilot") -> Q:
        """Return the condition for rows with such a column: rollups, runs and conversations."""
        return Q() if self.ids is None else Q(**{f"{column}__in": self.ids})


def get_scope(owner: AlertRule | AlertDigest) -> AlertScope:
    """Return the copilots of a rule or digest as they are now, without those being deleted."""
    if owner.copilot is not None:
        exists = owner.copilot.deletion_requested_at is None
        return AlertScope(
            ids=(owner.copilot.pk,) if exists else (),
            label=_("the copilot %(name)s") % {"name": owner.copilot.name},
            filters={"copilot": owner.copilot.slug},
        )
    if owner.tag:
        found = tagged(Copilot.objects.filter(deletion_requested_at=None), owner.tag)
        return AlertScope(
            ids=tuple(found.values_list("pk", flat=True)),
            label=_("copilots tagged %(tag)s") % {"tag": owner.tag},
            filters={"tag": owner.tag},
        )
    return AlertScope(label=_("all copilots"))


def filter_visible(user: Person, alerts: QuerySet[Alert]) -> QuerySet[Alert]:
    """Return the alerts that a user may see."""
    may_read = isinstance(user, PermissionsMixin) and user.has_perm(READ_TRANSCRIPTS)
    if reaches_all(user) or may_read:
        return alerts
    return alerts.filter(rule__copilot__in=reachable(user))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    value: Decimal | None  # None if there is nothing to measure
    sentence: str
    basis: int = 0  # sample size, in the unit of `RuleKind.minimum_label`
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleKind:
    """Kind of alert rule; window, threshold and minimum are defaults."""

    name: str
    label: str | Promise
    help: str | Promise
    unit: Unit
    measure: Callable[[AlertScope, Span], Measurement]
    windows: tuple[AlertWindow, ...]
    threshold: Decimal
    minimum: int = 0  # smallest sample that can open an alert
    minimum_label: str | Promise = ""  # unit of the sample; empty if there is none
    is_low_bad: bool = False  # values at or below the threshold are bad

    def is_bad(self, value: Decimal, threshold: Decimal) -> bool:
        return value <= threshold if self.is_low_bad else value >= threshold
