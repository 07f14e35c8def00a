"""Evaluation of due rules: measured, compared with the threshold, and turned into alerts.

Several processes may evaluate: each rule is claimed by moving its next due time, and what was
measured is only stored while the claim holds. A unique constraint allows one open alert per rule.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from urllib.parse import urlencode

from django.db import connections, transaction
from django.utils import timezone

from copilot_admin.alerts.deliveries import create_deliveries
from copilot_admin.alerts.digests import create_due_digests
from copilot_admin.alerts.messages import build_alert_message
from copilot_admin.alerts.rule_kinds import RULE_KINDS
from copilot_admin.alerts.rules import AlertWindow, Measurement, RuleKind, get_scope, window_span
from copilot_admin.models import Alert, AlertRule, DeliveryEvent
from copilot_admin.storage.writer import WRITER

INTERVAL = timedelta(minutes=1)
MAX_RULES_PER_CALL = 20
REMINDER_AFTER = timedelta(days=1)
# A value that moves around its threshold would open and close an alert every minute.
CLOSE_AFTER = timedelta(minutes=15)


class Transition(StrEnum):
    NONE = "none"
    OPEN = "open"
    NOTIFY = "notify"  # of an alert that opened while the rule was muted
    REMIND = "remind"
    RECOVER = "recover"  # good for the first time
    RELAPSE = "relapse"  # bad again before it closed
    CLOSE = "close"


_EVENTS = {
    Transition.OPEN: DeliveryEvent.OPENED,
    Transition.NOTIFY: DeliveryEvent.OPENED,
    Transition.REMIND: DeliveryEvent.REMINDER,
    Transition.CLOSE: DeliveryEvent.CLOSED,
}


def is_bad(rule: AlertRule, kind: RuleKind, measured: Measurement) -> bool | None:
    """Return whether a measurement is bad; None if the sample is too small to say so."""
    if measured.value is None or not kind.is_bad(measured.value, rule.threshold):
        return False
    return True if not kind.minimum_label or measured.basis >= rule.minimum else None


def next_transition(
    bad: bool | None, alert: Alert | None, *, is_muted: bool, now: datetime
) -> Transition:
    """Return what changes about an open alert. An undecided measurement changes nothing."""
    if bad is None:
        return Transition.NONE
    if alert is None:
        return Transition.OPEN if bad else Transition.NONE
    if not bad:
        if alert.good_since is None:
            return Transition.RECOVER
        return Transition.CLOSE if now - alert.good_since >= CLOSE_AFTER else Transition.NONE
    if not is_muted:
        if alert.told_at is None:
            return Transition.NOTIFY
        if now - alert.told_at >= REMINDER_AFTER:
            return Transition.REMIND
    return Transition.NONE if alert.good_since is None else Transition.RELAPSE


def evaluate_due_rules() -> None:
    """Evaluate rules that are due and create due digests. Run it in a thread of its own."""
    try:
        for _ in range(MAX_RULES_PER_CALL):
            rule = WRITER.submit(partial(claim_due_rule, timezone.now())).result()
            if rule is None:
                break
            measured = measure(rule, timezone.now())
            if measured is not None:
                change = partial(apply_measurement, rule, measured, timezone.now())
                WRITER.submit(change).result()
    finally:
        connections.close_all()
    WRITER.submit(partial(create_due_digests, timezone.now())).result()


def claim_due_rule(now: datetime) -> AlertRule | None:
    """Return a due rule to one caller only; alerts of disabled rules are closed."""
    Alert.objects.filter(closed_at=None, rule__enabled=False).update(closed_at=now)
    due = AlertRule.objects.filter(due_at__lte=now, enabled=True)
    for rule in due.select_related("copilot", "webhook").order_by("due_at", "pk"):
        same = AlertRule.objects.filter(pk=rule.pk, due_at=rule.due_at)
        if same.update(due_at=now + INTERVAL):
            rule.due_at = now + INTERVAL
            return rule
    return None


def measure(rule: AlertRule, now: datetime) -> Measurement | None:
    """Measure a rule; None if this release doesn't know its kind or window."""
    kind = RULE_KINDS.get(rule.kind)
    if kind is None or rule.window not in kind.windows:
        return None
    return kind.measure(get_scope(rule), window_span(AlertWindow(rule.window), now))


def apply_measurement(rule: AlertRule, measured: Measurement, now: datetime) -> Transition:
    """Open, notify or close the alert of a rule, unless another process has claimed the rule since."""
    with transaction.atomic():
        claimed = AlertRule.objects.filter(pk=rule.pk, due_at=rule.due_at, enabled=True)
        if claimed.select_for_update(no_key=True).values_list("pk").first() is None:
            return Transition.NONE
        alert = Alert.objects.filter(rule=rule, closed_at=None).first()
        is_muted = rule.muted_until is not None and rule.muted_until > now
        bad = is_bad(rule, RULE_KINDS[rule.kind], measured)
        transition = next_transition(bad, alert, is_muted=is_muted, now=now)
        if transition is not Transition.NONE:
            alert = alert or Alert(rule=rule, opened_at=now)
            _change(alert, transition, measured, now, is_muted=is_muted)
    return transition


def _change(
    alert: Alert, transition: Transition, measured: Measurement, now: datetime, *, is_muted: bool
) -> None:
    event = None if is_muted else _EVENTS.get(transition)
    scope = get_scope(alert.rule)
    match transition:
        case Transition.RECOVER:
            alert.good_since = now
        case Transition.RELAPSE:
            alert.good_since = None
        case Transition.CLOSE:
            alert.closed_at = now
            if alert.told_at is None:  # recipients don't know that it opened
                event = None
        case _:
            alert.value, alert.sentence = measured.value, measured.sentence
            alert.query = urlencode({**scope.filters, **measured.query})
            alert.good_since = None
            alert.told_at = None if is_muted else now
    alert.save()
    if event is not None:
        message = build_alert_message(event, alert, scope=scope, now=now)
        create_deliveries(alert.rule, message, alert=alert)
