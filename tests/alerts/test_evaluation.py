"""An alert opens once, reminds once a day, and closes when its value has been good for a while."""

from datetime import timedelta
from decimal import Decimal

import pytest

from copilot_admin.alerts.evaluation import (
    Transition,
    apply_measurement,
    claim_due_rule,
    is_bad,
    measure,
    next_transition,
)
from copilot_admin.alerts.rule_kinds import RULE_KINDS
from copilot_admin.alerts.rules import Measurement
from copilot_admin.jobs.deletion import delete_batch, mark_for_deletion
from copilot_admin.jobs.tasks import BatchResult
from copilot_admin.models import Alert, AlertDelivery, AlertRule, Copilot, Feedback
from tests.alerts.alerting import HOUR, MINUTE, NOON, dislike, evaluate, make_rule, make_webhook
from tests.factories import make_published

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("kind", "value", "basis", "expected"),
    [
        ("thumbs_down", "3", 0, True),
        ("thumbs_down", "2.99", 0, False),
        ("error_rate", "3", 5, True),
        ("error_rate", "3", 4, None),
        ("error_rate", "2", 4, False),
        ("error_rate", None, 0, False),
        ("silence", "3", 5, True),
        ("silence", "3.01", 5, False),
        ("silence", "0", 4, None),
        ("budget", "3", 0, True),
    ],
)
def test_a_value_is_bad_at_its_threshold_if_the_sample_is_large_enough(
    kind, value, basis, expected
):
    measured = Measurement(value=value and Decimal(value), basis=basis, sentence="")
    rule = AlertRule(threshold=Decimal(3), minimum=5)
    assert is_bad(rule, RULE_KINDS[kind], measured) is expected


def opened(**changes) -> Alert:
    return Alert(opened_at=NOON, **changes)


@pytest.mark.parametrize(
    ("bad", "alert", "is_muted", "expected"),
    [
        (False, None, False, Transition.NONE),
        (None, None, False, Transition.NONE),
        (True, None, False, Transition.OPEN),
        (True, None, True, Transition.OPEN),
        (True, opened(), False, Transition.NOTIFY),
        (True, opened(), True, Transition.NONE),
        (True, opened(told_at=NOON - DAY + MINUTE), False, Transition.NONE),
        (True, opened(told_at=NOON - DAY), False, Transition.REMIND),
        (True, opened(told_at=NOON - DAY), True, Transition.NONE),
        (True, opened(told_at=NOON, good_since=NOON - MINUTE), False, Transition.RELAPSE),
        (False, opened(told_at=NOON), False, Transition.RECOVER),
        (False, opened(good_since=NOON - 14 * MINUTE), False, Transition.NONE),
        (False, opened(good_since=NOON - 15 * MINUTE), False, Transition.CLOSE),
        (None, opened(good_since=NOON - HOUR), False, Transition.NONE),
    ],
)
def test_a_transition_follows_from_value_and_alert(bad, alert, is_muted, expected):
    assert next_transition(bad, alert, is_muted=is_muted, now=NOON) is expected


def events() -> list[str]:
    return list(AlertDelivery.objects.order_by("made_at").values_list("event", flat=True))


def recover() -> None:
    Feedback.objects.all().delete()


def test_an_alert_opens_once_and_notifies_each_recipient():
    webhook, _ = make_webhook()
    rule = make_rule(mails="a@example.com\nb@example.com", webhook=webhook)
    dislike(make_published(), 2)
    assert evaluate(NOON) == [Transition.OPEN]
    assert evaluate(NOON) == []  # it isn't due
    assert evaluate(NOON + MINUTE) == [Transition.NONE]
    alert = Alert.objects.get()
    assert (alert.rule, alert.opened_at, alert.told_at) == (rule, NOON, NOON)
    assert (alert.sentence, alert.value) == ("2 thumbs down", Decimal(2))
    assert alert.query == "judged=down"
    sent = AlertDelivery.objects.order_by("to")
    assert [(one.to, one.webhook, one.event, one.alert) for one in sent] == [
        ("", webhook, "opened", alert),
        ("a@example.com", None, "opened", alert),
        ("b@example.com", None, "opened", alert),
    ]


def test_an_alert_closes_after_a_while_and_notifies():
    make_rule()
    dislike(make_published(), 2)
    evaluate(NOON)
    recover()
    steps = [evaluate(NOON + n * MINUTE) for n in (1, 15, 16, 17)]
    assert steps == [[Transition.RECOVER], [Transition.NONE], [Transition.CLOSE], [Transition.NONE]]
    assert Alert.objects.get().closed_at == NOON + 16 * MINUTE
    assert events() == ["opened", "closed"]


def test_a_muted_rule_opens_alerts_and_notifies_when_it_is_no_longer_muted():
    make_rule(muted_until=NOON + HOUR)
    dislike(make_published(), 2)
    assert evaluate(NOON) == [Transition.OPEN]
    assert (Alert.objects.get().told_at, events()) == (None, [])
    assert evaluate(NOON + HOUR) == [Transition.NOTIFY]
    assert events() == ["opened"]


def test_the_end_of_an_alert_is_not_sent_if_its_start_was_not():
    make_rule(muted_until=NOON + HOUR)
    dislike(make_published(), 2)
    evaluate(NOON)
    recover()
    for n in (1, 16):
        evaluate(NOON + n * MINUTE)
    assert Alert.objects.get().closed_at is not None
    assert events() == []


def test_a_disabled_rule_has_no_open_alert():
    make_rule()
    dislike(make_published(), 2)
    evaluate(NOON)
    AlertRule.objects.update(enabled=False)
    assert evaluate(NOON + MINUTE) == []
    assert Alert.objects.get().closed_at == NOON + MINUTE
    assert events() == ["opened"]


def test_a_process_that_was_too_slow_stores_nothing():
    make_rule()
    dislike(make_published(), 2)
    slow = claim_due_rule(NOON)
    assert claim_due_rule(NOON) is None
    fast = claim_due_rule(NOON + MINUTE)
    measured = [(rule, measure(rule, NOON)) for rule in (slow, fast)]
    applied = [apply_measurement(*one, NOON) for one in reversed(measured)]
    assert applied == [Transition.OPEN, Transition.NONE]
    assert events() == ["opened"]


def test_a_rule_is_about_its_copilot_or_those_with_its_tag():
    rates, other = make_published(tags=["Rates"]), make_published()
    dislike(other, 2)
    make_rule(copilot=rates)
    make_rule(tag="rates")
    assert evaluate(NOON) == [Transition.NONE, Transition.NONE]
    dislike(rates, 1)
    assert evaluate(NOON + MINUTE) == [Transition.OPEN, Transition.OPEN]
    queries = Alert.objects.order_by("pk").values_list("query", flat=True)
    assert [query.partition("&")[0] for query in queries] == [f"copilot={rates.slug}", "tag=rates"]


def test_a_deleted_copilot_takes_its_own_rules_along():
    copilot = make_published()
    make_rule(copilot=copilot)
    make_rule(name="All")
    dislike(copilot, 2)
    evaluate(NOON)
    assert Alert.objects.count() == 2
    mark_for_deletion([copilot.pk])
    evaluate(NOON + MINUTE)
    evaluate(NOON + 16 * MINUTE)
    assert Alert.objects.get(rule__copilot=copilot).closed_at is not None
    while delete_batch(copilot.pk) is not BatchResult.DONE:
        pass
    assert not Copilot.objects.exists()
    assert [rule.name for rule in AlertRule.objects.all()] == ["All"]
    assert {one.alert.rule.name for one in AlertDelivery.objects.all()} == {"All"}
