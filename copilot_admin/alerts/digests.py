"""The digest of a week: what happened, beside the week before; from the rollups alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.utils.translation import gettext as _

from copilot_admin.alerts.deliveries import make_for
from copilot_admin.alerts.kind import FigureUnit, shown
from copilot_admin.alerts.messages import AlertMessage, figures_url, subject
from copilot_admin.alerts.plain import one_line
from copilot_admin.alerts.rollups import Number, sums_of_days
from copilot_admin.alerts.scope import AlertScope, scope_of
from copilot_admin.models import AlertDelivery, AlertDigest, DeliveryEvent, Outcome
from copilot_admin.transcripts.search.periods import DAY, Span

WEEK = timedelta(days=7)
OUTCOMES = tuple(one for one in Outcome if one is not Outcome.RUNNING)
COUNTED = (
    "conversations", "questions", "runs", *(one.value for one in OUTCOMES), "up", "down",
    "cost", "unpriced",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Week:
    """A week of days of UTC, and what was counted in it and in the one before."""

    span: Span
    now: Mapping[str, Number]
    before: Mapping[str, Number]


def next_due(digest: AlertDigest, after: datetime) -> datetime:
    """The next moment after another at which a digest is sent."""
    after = after.astimezone(UTC)
    moment = after.replace(hour=digest.hour, minute=0, second=0, microsecond=0)
    moment += ((digest.weekday - moment.weekday()) % 7) * DAY
    return moment if moment > after else moment + WEEK


def send_due_digests(at: datetime) -> None:
    """Stores the digests whose time has come; each is sent by one caller only, once a week."""
    rows = AlertDigest.objects.filter(enabled=True).select_related("copilot", "webhook")
    # What is due later than in a week was written by a clock that went wrong: it is not sent for that.
    ahead = at + WEEK + DAY
    for digest in rows.exclude(due_at__gt=at, due_at__lte=ahead).order_by("pk"):
        same = AlertDigest.objects.filter(pk=digest.pk, due_at=digest.due_at)
        if same.update(due_at=next_due(digest, at)) and digest.due_at <= at:
            send(digest, at)


def send(digest: AlertDigest, at: datetime) -> list[AlertDelivery]:
    """Stores the digest of the last seven whole days for those whom it tells."""
    scope = scope_of(digest)
    return make_for(digest, digest_message(digest.name, scope, week_of(scope, at), at))


def week_of(scope: AlertScope, at: datetime) -> Week:
    """What was counted in the last seven whole days."""
    end = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    span = Span(end - WEEK, end)
    return Week(
        span=span,
        now=sums_of_days(scope, span, *COUNTED),
        before=sums_of_days(scope, Span(span.first - WEEK, span.first), *COUNTED),
    )


def digest_message(name: str, scope: AlertScope, week: Week, at: datetime) -> AlertMessage:
    """The digest in words, and as a program reads it."""
    days = f"{week.span.first:%Y-%m-%d} – {week.span.last_day:%Y-%m-%d}"  # noqa: RUF001  # a dash
    url = figures_url(scope, week.span)
    return AlertMessage(
        event=DeliveryEvent.DIGEST,
        subject=subject(_("%(name)s: the week %(days)s") % {"name": name, "days": days}),
        lines=[
            _("%(days)s, %(which)s, beside the week before:")
            % {"days": days, "which": one_line(scope.words, most=150)},
            "\n".join(_table(week)),
            _("All figures: %(url)s") % {"url": url},
        ],
        at=at,
        data={
            "name": one_line(name, most=100),
            "copilots": dict(scope.filters),
            "since": f"{week.span.first:%Y-%m-%d}",
            "until": f"{week.span.last_day:%Y-%m-%d}",
            "counts": _plain(week.now),
            "counts_before": _plain(week.before),
            "url": url,
        },
    )


def _table(week: Week) -> Sequence[str]:
    rows = [(_("Conversations"), "conversations"), (_("Questions"), "questions")]
    rows += [
        (str(one.label), one.value)
        for one in OUTCOMES
        if week.now[one.value] or week.before[one.value]
    ]
    rows += [(_("Thumbs up"), "up"), (_("Thumbs down"), "down")]
    lines = [f"{label}: {_figure(week, name, FigureUnit.NUMBER)}" for label, name in rows]
    lines.append(f"{_('Cost')}: {_beside(_cost(week.now), _cost(week.before))}")
    if week.now["unpriced"] or week.before["unpriced"]:
        unknown = _("Requests of unknown cost")
        lines.append(f"{unknown}: {_figure(week, 'unpriced', FigureUnit.NUMBER)}")
    return lines


def _figure(week: Week, name: str, unit: FigureUnit) -> str:
    return _beside(shown(unit, Decimal(week.now[name])), shown(unit, Decimal(week.before[name])))


def _beside(now: str, before: str) -> str:
    return _("%(now)s (before: %(before)s)") % {"now": now, "before": before}


def _cost(counts: Mapping[str, Number]) -> str:
    """What is known of a cost; nothing known is not 0."""
    if not counts["unpriced"]:
        return shown(FigureUnit.DOLLARS, Decimal(counts["cost"]))
    if not counts["cost"]:
        return _("unknown")
    return _("at least %(amount)s") % {"amount": shown(FigureUnit.DOLLARS, Decimal(counts["cost"]))}


def _plain(counts: Mapping[str, Number]) -> dict[str, float | int | None]:
    is_unknown = counts["unpriced"] and not counts["cost"]
    cost = None if is_unknown else float(counts["cost"])
    return {name: int(number) for name, number in counts.items() if name != "cost"} | {"cost": cost}
