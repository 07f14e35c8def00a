"""What follows from what a rule found: an alert is opened, told of, closed; writes.

It is written only while the moment at which the rule is due next is still that of whoever measured. A
rule has one open alert at most, which the database itself sees to.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from copilot_admin.alerts.deliveries import make_for
from copilot_admin.alerts.judging import AlertStep, RuleStanding, next_step, verdict_of
from copilot_admin.alerts.kind import MeasuredFigure, RuleKind
from copilot_admin.alerts.messages import alert_message, list_query
from copilot_admin.alerts.scope import AlertScope
from copilot_admin.models import Alert, AlertRule, DeliveryEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFinding:
    """What was measured for a rule."""

    rule: AlertRule
    kind: RuleKind
    scope: AlertScope
    measured: MeasuredFigure

    def is_muted(self, at: datetime) -> bool:
        """Whether nobody is to be told for now."""
        return self.rule.muted_until is not None and self.rule.muted_until > at


def settle(finding: RuleFinding, at: datetime) -> AlertStep:
    """Does what follows of a finding, unless somebody else has taken the rule meanwhile."""
    with transaction.atomic():
        mine = AlertRule.objects.filter(
            pk=finding.rule.pk, due_at=finding.rule.due_at, enabled=True
        )
        if mine.select_for_update(no_key=True).values_list("pk").first() is None:
            return AlertStep.NOTHING
        alert = Alert.objects.filter(rule=finding.rule, closed_at=None).first()
        step = _step(finding, alert, at)
        if step in (AlertStep.OPEN, AlertStep.TELL, AlertStep.REMIND):
            _tell(step, alert or Alert(rule=finding.rule, opened_at=at), finding, at)
        elif alert is not None:
            _end(step, alert, finding, at)
    return step


def _step(finding: RuleFinding, alert: Alert | None, at: datetime) -> AlertStep:
    rule = finding.rule
    verdict = verdict_of(
        finding.kind, finding.measured, threshold=rule.threshold, minimum=rule.minimum
    )
    standing = RuleStanding(
        is_open=alert is not None,
        told_at=alert.told_at if alert else None,
        good_since=alert.good_since if alert else None,
        is_muted=finding.is_muted(at),
    )
    return next_step(verdict, standing, at=at)


def _tell(step: AlertStep, alert: Alert, finding: RuleFinding, at: datetime) -> None:
    """Keeps what is wrong now, and tells it unless nobody is to be told."""
    measured = finding.measured
    alert.rule = finding.rule
    alert.value, alert.sentence = measured.value, measured.sentence
    alert.words = list(measured.words)
    alert.query = list_query(finding.scope, measured.query)
    alert.good_since = None
    alert.told_at = None if finding.is_muted(at) else at
    alert.save()
    if alert.told_at is not None:
        event = DeliveryEvent.REMINDER if step is AlertStep.REMIND else DeliveryEvent.OPENED
        _deliver(event, alert, finding, at)


def _end(step: AlertStep, alert: Alert, finding: RuleFinding, at: datetime) -> None:
    """Closes an alert, or keeps how far it is from that."""
    match step:
        case AlertStep.CALM:
            alert.good_since = at
        case AlertStep.RELAPSE:
            alert.good_since = None
        case AlertStep.CLOSE:
            alert.closed_at = max(at, alert.opened_at)
        case _:
            return
    alert.save()
    # Who was never told that it opened has no use for its end.
    if step is AlertStep.CLOSE and alert.told_at is not None and not finding.is_muted(at):
        alert.rule = finding.rule
        _deliver(DeliveryEvent.CLOSED, alert, finding, at)


def _deliver(event: DeliveryEvent, alert: Alert, finding: RuleFinding, at: datetime) -> None:
    message = alert_message(event, alert, kind=finding.kind, scope=finding.scope, at=at)
    make_for(finding.rule, message, alert=alert)
