"""An alert opens once, reminds once a day, closes when it has been good for a while."""

from datetime import timedelta
from decimal import Decimal

from django.db import IntegrityError, transaction
import pytest

from copilot_admin.alerts.checking import AT_ONCE, claim_due, found
from copilot_admin.alerts.judging import AlertStep
from copilot_admin.alerts.settling import settle
from copilot_admin.jobs.deletion import DeletionStep, delete_batch, mark
from copilot_admin.models import Alert, AlertDelivery, AlertRule, Copilot, Feedback
from tests.alerts.alerting import HOUR, MINUTE, NOON, count, dislike, look, make_rule, make_webhook
from tests.factories import make_published

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def events() -> list[str]:
    return list(AlertDelivery.objects.order_by("made_at").values_list("event", flat=True))


def good() -> None:
    Feedback.objects.all().delete()


def test_an_alert_opens_once_and_tells_each_who_is_to_be_told():
    webhook, _ = make_webhook()
    rule = make_rule(mails="a@example.com\nb@example.com", webhook=webhook)
    dislike(make_published(), 2)
    assert look(NOON) == [AlertStep.OPEN]
    assert look(NOON) == []  # it is not due
    assert look(NOON + MINUTE) == [AlertStep.NOTHING]
    alert = Alert.objects.get()
    assert (alert.rule, alert.opened_at, alert.told_at) == (rule, NOON, NOON)
    assert (alert.sentence, alert.value, alert.words) == ("2 thumbs down", Decimal(2), [])
    assert alert.query == "counted=complaints+2026-11-19T12+2026-11-20T12"
    sent = AlertDelivery.objects.order_by("to")
    assert [(one.to, one.webhook, one.event, one.alert) for one in sent] == [
        ("", webhook, "opened", alert),
        ("a@example.com", None, "opened", alert),
        ("b@example.com", None, "opened", alert),
    ]


def test_a_figure_that_does_not_end_is_kept_with_two_decimals():
    make_rule(kind="error_rate", window="1h", minimum=3)
    count(make_published(), runs=3, errors=1)
    assert look(NOON) == [AlertStep.OPEN]
    assert Alert.objects.get().value == Decimal("33.33")


def test_whoever_is_told_is_reminded_once_a_day():
    make_rule(window="7d")
    dislike(make_published(), 2)
    for at in (NOON, NOON + DAY - MINUTE, NOON + DAY, NOON + DAY + MINUTE):
        look(at)
    assert events() == ["opened", "reminder"]


def test_it_closes_when_it_has_been_good_for_a_while_and_says_so():
    make_rule()
    dislike(make_published(), 2)
    look(NOON)
    good()
    steps = [look(NOON + n * MINUTE) for n in (1, 15, 16, 17)]
    assert steps == [[AlertStep.CALM], [AlertStep.NOTHING], [AlertStep.CLOSE], [AlertStep.NOTHING]]
    assert Alert.objects.get().closed_at == NOON + 16 * MINUTE
    assert events() == ["opened", "closed"]


def test_a_figure_about_its_threshold_tells_once():
    make_rule()
    copilot = make_published()
    for n in range(40):
        good()
        dislike(copilot, n % 2 if n else 1)
        look(NOON + n * MINUTE)
    assert events() == ["opened"]


def test_while_a_rule_is_muted_alerts_open_and_nobody_is_told_until_then():
    make_rule(muted_until=NOON + HOUR)
    dislike(make_published(), 2)
    assert look(NOON) == [AlertStep.OPEN]
    assert (Alert.objects.get().told_at, events()) == (None, [])
    assert look(NOON + HOUR) == [AlertStep.TELL]
    assert events() == ["opened"]


def test_of_what_nobody_was_told_nobody_is_told_the_end():
    make_rule(muted_until=NOON + HOUR)
    dislike(make_published(), 2)
    look(NOON)
    good()
    for n in (1, 16):
        look(NOON + n * MINUTE)
    assert Alert.objects.get().closed_at is not None
    assert events() == []


def test_a_rule_that_is_switched_off_has_no_open_alert():
    make_rule()
    dislike(make_published(), 2)
    look(NOON)
    AlertRule.objects.update(enabled=False)
    assert look(NOON + MINUTE) == []
    assert Alert.objects.get().closed_at == NOON + MINUTE
    assert events() == ["opened"]


def test_of_two_processes_one_gets_the_rule():
    make_rule()
    assert [len(claim_due(NOON)), len(claim_due(NOON))] == [1, 0]


def test_who_was_too_slow_writes_nothing():
    make_rule()
    dislike(make_published(), 2)
    (slow,) = claim_due(NOON)
    (fast,) = claim_due(NOON + MINUTE)
    findings = [found(rule, NOON) for rule in (slow, fast)]
    assert [settle(one, NOON) for one in reversed(findings)] == [AlertStep.OPEN, AlertStep.NOTHING]
    assert events() == ["opened"]


def test_the_database_itself_knows_one_open_alert_of_a_rule():
    rule = make_rule()
    Alert.objects.create(rule=rule, opened_at=NOON, closed_at=NOON)
    Alert.objects.create(rule=rule, opened_at=NOON)
    with pytest.raises(IntegrityError), transaction.atomic():
        Alert.objects.create(rule=rule, opened_at=NOON)


def test_what_was_changed_meanwhile_is_measured_anew():
    make_rule()
    dislike(make_published(), 2)
    (rule,) = claim_due(NOON)
    finding = found(rule, NOON)
    AlertRule.objects.update(threshold=5, due_at=NOON)
    assert settle(finding, NOON) is AlertStep.NOTHING
    assert look(NOON) == [AlertStep.NOTHING]


def test_a_clock_that_was_set_back_stops_no_rule():
    make_rule(due_at=NOON + DAY)
    dislike(make_published(), 2)
    assert look(NOON) == [AlertStep.OPEN]
    good()
    look(NOON - HOUR)
    assert look(NOON - HOUR + 20 * MINUTE) == [AlertStep.CLOSE]
    assert Alert.objects.get().closed_at == NOON  # not before it opened


def test_a_round_takes_some_rules_and_those_that_wait_longest_first():
    for n in range(AT_ONCE + 1):
        make_rule(name=str(n), due_at=NOON - n * MINUTE)
    first = [rule.name for rule in claim_due(NOON)]
    assert first == [str(n) for n in range(AT_ONCE, 0, -1)]
    assert [rule.name for rule in claim_due(NOON)] == ["0"]


@pytest.mark.parametrize("changes", [{"kind": "from a newer release"}, {"window": "month"}])
def test_what_this_release_does_not_know_is_left_alone(changes):
    make_rule(**changes)
    make_rule(name="Known")
    dislike(make_published(), 2)
    assert look(NOON) == [AlertStep.OPEN]


def test_a_rule_is_about_its_copilot_or_those_with_its_tag():
    rates, other = make_published(tags=["Rates"]), make_published()
    dislike(other, 2)
    make_rule(copilot=rates)
    make_rule(tag="rates")
    assert look(NOON) == [AlertStep.NOTHING, AlertStep.NOTHING]
    dislike(rates, 1)
    assert look(NOON + MINUTE) == [AlertStep.OPEN, AlertStep.OPEN]
    queries = Alert.objects.order_by("pk").values_list("query", flat=True)
    assert [query.partition("&")[0] for query in queries] == [f"copilot={rates.slug}", "tag=rates"]


def test_a_copilot_that_is_deleted_takes_its_rules_along_and_no_others():
    copilot = make_published()
    make_rule(copilot=copilot)
    make_rule(name="All")
    dislike(copilot, 2)
    look(NOON)
    assert Alert.objects.count() == 2
    mark([copilot.pk])
    look(NOON + MINUTE)
    look(NOON + 16 * MINUTE)
    of_copilot = Alert.objects.get(rule__copilot=copilot)
    assert of_copilot.closed_at is not None
    while delete_batch(copilot.pk) is not DeletionStep.GONE:
        pass
    assert not Copilot.objects.exists()
    assert [rule.name for rule in AlertRule.objects.all()] == ["All"]
    assert {one.alert.rule.name for one in AlertDelivery.objects.all()} == {"All"}
