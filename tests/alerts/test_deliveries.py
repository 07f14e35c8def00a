"""A message is attempted by one process at a time, with backoff, until it is delivered or given up."""

from datetime import timedelta
from decimal import Decimal
from smtplib import SMTPServerDisconnected
from uuid import uuid4

from asgiref.sync import async_to_sync, sync_to_async
from django.core import mail
from django.core.management import call_command
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
import pytest

from copilot_admin.alerts import deliveries, evaluation
from copilot_admin.alerts.deliveries import (
    BACKOFF,
    LEASE,
    DeliveryResult,
    create_deliveries,
    enqueue_due_deliveries,
    retry_delivery,
    send_mail,
    store_result,
)
from copilot_admin.alerts.evaluation import evaluate_due_rules
from copilot_admin.alerts.messages import build_test_message
from copilot_admin.errors import ConfigurationError
from copilot_admin.jobs.tasks import BACKGROUND
from copilot_admin.models import Alert, AlertDelivery, AlertRule, DeliveryState
from copilot_admin.storage.writer import WRITER
from tests.agent.providers.upstream import Request, serving
from tests.alerts.alerting import HOUR, MINUTE, NOON, answering, dislike, make_rule, make_webhook
from tests.factories import make_published
from tests.polling import HANGS_SECONDS

pytestmark = pytest.mark.django_db
DELIVERED = DeliveryResult(is_delivered=True, status=204)
FAILED = DeliveryResult(is_delivered=False, status=500, answer="Sorry\r\nX: y")
FINAL = DeliveryResult(is_delivered=False, is_final=True, answer="Private")
DAY = timedelta(days=1)
IN_DATABASE = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}


@pytest.fixture
def enqueued(monkeypatch, django_capture_on_commit_callbacks):
    """Return the claims that a call enqueues at some time."""

    def call(at) -> list[tuple[str, int]]:
        claims: list[tuple[str, int]] = []
        monkeypatch.setattr(timezone, "now", lambda: at)
        monkeypatch.setattr(
            type(deliveries.deliver), "enqueue", lambda _self, *args: claims.append(args)
        )
        with django_capture_on_commit_callbacks(execute=True):
            enqueue_due_deliveries()
        return claims

    return call


def made(at=NOON) -> AlertDelivery:
    (delivery,) = create_deliveries(make_rule(), build_test_message("Desk", at))
    return delivery


def tried(delivery: AlertDelivery, claim: int, at, result: DeliveryResult) -> AlertDelivery:
    store_result(delivery.pk, claim, result, at)
    delivery.refresh_from_db()
    return delivery


def test_a_delivered_message_is_done(enqueued):
    delivery = made()
    [(_, claim)] = enqueued(NOON)
    tried(delivery, claim, NOON, DELIVERED)
    assert (delivery.state, delivery.attempts, delivery.status) == (DeliveryState.SENT, 1, 204)
    assert delivery.tried_at == NOON
    assert enqueued(NOON + DAY) == []


def test_a_failed_message_is_retried_for_a_day_and_then_given_up(enqueued):
    delivery, at = made(), NOON
    for number, pause in enumerate(BACKOFF, 1):
        [(_, claim)] = enqueued(at)
        tried(delivery, claim, at, FAILED)
        assert (delivery.state, delivery.attempts) == (DeliveryState.WAITING, number)
        assert delivery.due_at == at + pause
        assert enqueued(delivery.due_at - timedelta(seconds=1)) == []
        at = delivery.due_at
    [(_, claim)] = enqueued(at)
    tried(delivery, claim, at, FAILED)
    assert (delivery.state, delivery.attempts) == (DeliveryState.FAILED, len(BACKOFF) + 1)
    assert (delivery.status, delivery.answer) == (500, "Sorry X: y")
    assert timedelta(hours=22) < at - NOON < DAY
    assert list(BACKOFF) == sorted(BACKOFF)


def test_a_process_that_died_is_replaced_and_its_result_ignored(enqueued):
    delivery = made()
    [(_, dead)] = enqueued(NOON)
    assert enqueued(NOON + LEASE - MINUTE) == []
    [(_, alive)] = enqueued(NOON + LEASE)
    tried(delivery, dead, NOON + LEASE, DELIVERED)
    assert delivery.state == DeliveryState.WAITING
    tried(delivery, alive, NOON + LEASE, FAILED)
    assert (delivery.state, delivery.attempts) == (DeliveryState.WAITING, 1)
    store_result(uuid4(), 1, DELIVERED, NOON + HOUR)  # a deleted message


def test_a_failed_message_can_be_retried_by_hand(enqueued):
    delivery = made()
    [(_, claim)] = enqueued(NOON)
    tried(delivery, claim, NOON, FINAL)
    assert retry_delivery(delivery)
    assert not retry_delivery(delivery)  # a second click on the same page
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == (DeliveryState.WAITING, 0)


def test_old_messages_and_alerts_are_deleted_unless_open_or_waiting(enqueued):
    rule = make_rule()
    old = [
        Alert.objects.create(rule=rule, opened_at=NOON - 400 * DAY, closed_at=NOON - 399 * DAY),
        Alert.objects.create(rule=rule, opened_at=NOON - 400 * DAY),
        Alert.objects.create(rule=rule, opened_at=NOON - 300 * DAY, closed_at=NOON),
    ]
    ages = ((91, "sent"), (91, "waiting"), (89, "failed"))
    rows = [
        AlertDelivery.objects.create(
            event="opened", alert=old[0], subject=state, made_at=NOON - days * DAY, state=state
        )
        for days, state in ages
    ]
    enqueued(NOON)
    assert set(AlertDelivery.objects.all()) == set(rows[1:])
    AlertDelivery.objects.all().delete()
    enqueued(NOON)
    assert set(Alert.objects.all()) == set(old[1:])


class TestMail:
    def test_without_a_mail_server_it_is_given_up(self, settings):
        settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
        result = async_to_sync(send_mail)(made())
        assert (result.is_delivered, result.is_final) == (False, True)
        assert "EMAIL_HOST" in result.answer

    @pytest.mark.parametrize(
        "error",
        [SMTPServerDisconnected("gone"), ConnectionRefusedError(111, "no"), ValueError("x")],
    )
    def test_an_error_of_the_mail_server_is_stored(self, monkeypatch, error):
        def fail(self):
            raise error

        monkeypatch.setattr("django.core.mail.EmailMessage.send", fail)
        result = async_to_sync(send_mail)(made())
        assert (result.is_delivered, result.is_final) == (False, False)
        assert result.answer == f"{type(error).__name__}: {error}"


def something_is_wrong(**changes) -> AlertRule:
    rule = make_rule(due_at=timezone.now(), threshold=Decimal(1), **changes)
    dislike(make_published(), at=timezone.now())
    return rule


def states() -> list[str]:
    return sorted(AlertDelivery.objects.values_list("state", flat=True))


@pytest.mark.django_db(transaction=True)
class TestWithThreads:
    """From a thumb down to the mailbox and the receiver."""

    @pytest.mark.database
    def test_an_alert_reaches_mailbox_and_webhook(self, settings):
        settings.FETCH_ALLOW = ("127.0.0.1",)

        async def run() -> list[Request]:
            async with serving(answering()) as server:
                await sync_to_async(
                    lambda: something_is_wrong(webhook=make_webhook(f"{server.url}/hook")[0])
                )()
                await sync_to_async(evaluate_due_rules)()
                await WRITER.run(enqueue_due_deliveries)
                await sync_to_async(BACKGROUND.wait_until_idle)(timeout=HANGS_SECONDS)
                return server.requests

        (request,) = async_to_sync(run)()
        assert request.json["type"] == "alert.opened"
        assert [one.subject for one in mail.outbox] == ["[Copilot Admin] Thumbs: 1 thumb down"]
        assert states() == ["sent", "sent"]

    def test_a_broken_rule_does_not_stop_the_others(self, monkeypatch):
        broken = something_is_wrong(name="Broken")
        make_rule(name="Whole", due_at=timezone.now(), threshold=Decimal(1))
        measure = evaluation.measure

        def fail(rule: AlertRule, now):
            if rule.pk == broken.pk:
                raise ConfigurationError("It can't be measured.")
            return measure(rule, now)

        monkeypatch.setattr(evaluation, "measure", fail)
        with pytest.raises(ConfigurationError):
            evaluate_due_rules()
        evaluate_due_rules()  # seconds later
        assert [alert.rule.name for alert in Alert.objects.all()] == ["Whole"]

    def test_a_worker_sends_messages_from_the_database(self, settings):
        settings.TASKS, settings.BACKGROUND = IN_DATABASE, "database"
        something_is_wrong()
        evaluate_due_rules()
        for _ in range(2):
            WRITER.submit(enqueue_due_deliveries).result(HANGS_SECONDS)
        assert DBTaskResult.objects.ready().count() == 1
        call_command("worker", batch=True, interval=0, startup_delay=False, verbosity=0)
        assert states() == ["sent"]
        assert len(mail.outbox) == 1
