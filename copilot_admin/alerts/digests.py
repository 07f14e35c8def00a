"""Weekly digests: the counts of the last seven days next to the week before, from the rollups."""

from collections.abc import Iterator, Mapping
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
from copilot_admin.alerts.rules import Unit, format_value, get_scope
from copilot_admin.analytics.periods import DAY, Span
from copilot_admin.models import AlertDelivery, AlertDigest, DeliveryEvent, Outcome

Counts = Mapping[str, Number]
WEEK = timedelta(days=7)
OUTCOMES = tuple(one for one in Outcome if one is not Outcome.RUNNING)
COUNTS = (
    "conversations", "questions", "runs", *(one.value for one in OUTCOMES), "up", "down",
    "cost", "unpriced",
)  # fmt: skip


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
    end = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    span = Span(end - WEEK, end)
    current = sum_days(scope, span, *COUNTS)
    previous = sum_days(scope, Span(span.first - WEEK, span.first), *COUNTS)
    since, until = f"{span.first:%Y-%m-%d}", f"{span.last_day:%Y-%m-%d}"
    days = f"{since} – {until}"  # noqa: RUF001  # a dash
    url = build_analytics_url(scope, span)
    title = {"days": days, "which": to_line(scope.label, MAX_SCOPE_CHARACTERS)}
    subject = _("%(name)s: the week %(days)s") % {"name": digest.name, "days": days}
    message = AlertMessage(
        event=DeliveryEvent.DIGEST,
        subject=build_subject(subject),
        paragraphs=[
            _("%(days)s, %(which)s, compared with the week before:") % title,
            "\n".join(_format_lines(current, previous)),
            _("Analytics: %(url)s") % {"url": url},
        ],
        at=now,
        data={
            "name": to_line(digest.name, MAX_NAME_CHARACTERS),
            "copilots": dict(scope.filters),
            "since": since,
            "until": until,
            "counts": _to_json(current),
            "counts_before": _to_json(previous),
            "url": url,
        },
    )
    return create_deliveries(digest, message)


def _format_lines(current: Counts, previous: Counts) -> Iterator[str]:
    text = _("%(label)s: %(current)s (before: %(previous)s)")
    rows = [
        (_("Conversations"), "conversations"),
        (_("Questions"), "questions"),
        *((str(one.label), one.value) for one in OUTCOMES),
        (_("Thumbs up"), "up"),
        (_("Thumbs down"), "down"),
        (_("Requests of unknown cost"), "unpriced"),
    ]
    always = ("conversations", "questions", "up", "down")
    for label, name in rows:
        if name in always or current[name] or previous[name]:
            before = f"{previous[name]:,}"
            yield text % {"label": label, "current": f"{current[name]:,}", "previous": before}
    before = _format_cost(previous)
    yield text % {"label": _("Cost"), "current": _format_cost(current), "previous": before}


def _format_cost(counts: Counts) -> str:
    """Format the known cost; an unknown cost isn't 0."""
    amount = format_value(Unit.DOLLARS, Decimal(counts["cost"]))
    if not counts["unpriced"]:
        return amount
    return _("at least %(amount)s") % {"amount": amount} if counts["cost"] else _("unknown")


def _to_json(counts: Counts) -> dict[str, float | int | None]:
    is_unknown = counts["unpriced"] and not counts["cost"]
    cost = None if is_unknown else float(counts["cost"])
    return {name: int(number) for name, number in counts.items() if name != "cost"} | {"cost": cost}
