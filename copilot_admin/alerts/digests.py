"""Weekly digests: the counts of the last seven days next to the week before, from the rollups."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.utils.translation import gettext as _

from copilot_admin.alerts.deliveries import create_deliveries
from copilot_admin.alerts.messages import (
    MAX_NAME_CHARACTERS,
    MAX_SCOPE_CHARACTERS,
    AlertMessage,
    build_analytics_url,
    build_subject,
    to_line,
)
from copilot_admin.alerts.rule_kinds import Number, sum_days
from copilot_admin.alerts.rules import AlertScope, Unit, format_value, get_scope
from copilot_admin.analytics.periods import DAY, Span
from copilot_admin.models import AlertDelivery, AlertDigest, DeliveryEvent, Outcome

WEEK = timedelta(days=7)
OUTCOMES = tuple(one for one in Outcome if one is not Outcome.RUNNING)
COUNTS = (
    "conversations", "questions", "runs", *(one.value for one in OUTCOMES), "up", "down",
    "cost", "unpriced",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Week:
    """Counts of seven days, and of the seven days before."""

    span: Span
    current: Mapping[str, Number]
    previous: Mapping[str, Number]


def next_due(digest: AlertDigest, after: datetime) -> datetime:
    after = after.astimezone(UTC)
    due = after.replace(hour=digest.hour, minute=0, second=0, microsecond=0)
    due += ((digest.weekday - due.weekday()) % 7) * DAY
    return due if due > after else due + WEEK


def create_due_digests(now: datetime) -> None:
    """Create the messages of due digests; moving `due_at` gives each to one process only."""
    due = AlertDigest.objects.filter(enabled=True, due_at__lte=now)
    for digest in due.select_related("copilot", "webhook").order_by("pk"):
        same = AlertDigest.objects.filter(pk=digest.pk, due_at=digest.due_at)
        if same.update(due_at=next_due(digest, now)):
            create_digest(digest, now)


def create_digest(digest: AlertDigest, now: datetime) -> list[AlertDelivery]:
    """Create the messages of a digest of the last seven whole days."""
    scope = get_scope(digest)
    message = build_digest_message(digest.name, scope, count_week(scope, now), now)
    return create_deliveries(digest, message)


def count_week(scope: AlertScope, now: datetime) -> Week:
    end = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    span = Span(end - WEEK, end)
    return Week(
        span=span,
        current=sum_days(scope, span, *COUNTS),
        previous=sum_days(scope, Span(span.first - WEEK, span.first), *COUNTS),
    )


def build_digest_message(name: str, scope: AlertScope, week: Week, now: datetime) -> AlertMessage:
    days = f"{week.span.first:%Y-%m-%d} – {week.span.last_day:%Y-%m-%d}"  # noqa: RUF001  # a dash
    url = build_analytics_url(scope, week.span)
    title = {"days": days, "which": to_line(scope.label, MAX_SCOPE_CHARACTERS)}
    return AlertMessage(
        event=DeliveryEvent.DIGEST,
        subject=build_subject(_("%(name)s: the week %(days)s") % {"name": name, "days": days}),
        paragraphs=[
            _("%(days)s, %(which)s, compared with the week before:") % title,
            "\n".join(_format_lines(week)),
            _("Analytics: %(url)s") % {"url": url},
        ],
        at=now,
        data={
            "name": to_line(name, MAX_NAME_CHARACTERS),
            "copilots": dict(scope.filters),
            "since": f"{week.span.first:%Y-%m-%d}",
            "until": f"{week.span.last_day:%Y-%m-%d}",
            "counts": _to_json(week.current),
            "counts_before": _to_json(week.previous),
            "url": url,
        },
    )


def _format_lines(week: Week) -> list[str]:
    rows = [(_("Conversations"), "conversations"), (_("Questions"), "questions")]
    rows += [
        (str(one.label), one.value)
        for one in OUTCOMES
        if week.current[one.value] or week.previous[one.value]
    ]
    rows += [(_("Thumbs up"), "up"), (_("Thumbs down"), "down")]
    if week.current["unpriced"] or week.previous["unpriced"]:
        rows.append((_("Requests of unknown cost"), "unpriced"))
    lines = [
        _compare(label, f"{week.current[name]:,}", f"{week.previous[name]:,}")
        for label, name in rows
    ]
    return [*lines, _compare(_("Cost"), _format_cost(week.current), _format_cost(week.previous))]


def _compare(label: str, current: str, previous: str) -> str:
    values = {"label": label, "current": current, "previous": previous}
    return _("%(label)s: %(current)s (before: %(previous)s)") % values


def _format_cost(counts: Mapping[str, Number]) -> str:
    """Format the known cost; an unknown cost isn't 0."""
    amount = format_value(Unit.DOLLARS, Decimal(counts["cost"]))
    if not counts["unpriced"]:
        return amount
    return _("at least %(amount)s") % {"amount": amount} if counts["cost"] else _("unknown")


def _to_json(counts: Mapping[str, Number]) -> dict[str, float | int | None]:
    is_unknown = counts["unpriced"] and not counts["cost"]
    cost = None if is_unknown else float(counts["cost"])
    return {name: int(number) for name, number in counts.items() if name != "cost"} | {"cost": cost}
