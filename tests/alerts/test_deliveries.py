"""A message is tried by one at a time, with growing pauses, until it is taken or given up."""

from datetime import timedelta
from smtplib import SMTPServerDisconnected
from threading import Event
from uuid import uuid4

from asgiref.sync import async_to_sync
from django.core import mail
from django.utils import timezone
import pytest

from copilot_admin.alerts import mail as mailing
from copilot_admin.alerts.deliveries import (
    AT_ONCE,
    LEASE,
    PAUSES,
    DeliveryResult,
    claim_due,
    ended,
    make_for,
    pause_after,
    send_again,
    sweep,
    taken_up,
)
from copilot_admin.alerts.messages import trial_message
from copilot_admin.config.mail import DROPS
from copilot_admin.models import Alert, AlertDelivery, DeliveryState
from tests.alerts.alerting import HOUR, MINUTE, NOON, make_rule

pytestmark = pytest.mark.django_db
TAKEN = DeliveryResult(is_taken=True, status=204)
NO = DeliveryResult(is_taken=False, status=500, answer="Sorry\r\nX: y")
DAY = timedelta(days=1)


def nobody(delivery_id: str, claim: int) -> bool:
    """No worker waits to do it."""
    return False


def made(at=NOON) -> AlertDelivery:
    (delivery,) = make_for(make_rule(), trial_message("Desk", at))
    return delivery


def tried(delivery: AlertDelivery, at, result: DeliveryResult) -> AlertDelivery:
    [(_, claim)] = claim_due(at, nobody)
    assert taken_up(delivery.pk, claim) == delivery
    ended(delivery.pk, claim, result, at)
    delivery.refresh_from_db()
    return delivery


def test_what_is_taken_is_done():
    delivery = tried(made(), NOON, TAKEN)
    assert (delivery.state, delivery.attempts, delivery.status) == (DeliveryState.SENT, 1, 204)
    assert delivery.tried_at == NOON
    assert claim_due(NOON + DAY, nobody) == []


def test_what_is_not_taken_is_tried_again_for_a_day_and_then_given_up():
    delivery, at = made(), NOON
    for number, pause in enumerate(PAUSES, 1):
        tried(delivery, at, NO)
        assert (delivery.state, delivery.attempts) == (DeliveryState.WAITING, number)
        assert delivery.due_at == at + pause
        assert claim_due(delivery.due_at - timedelta(seconds=1), nobody) == []
        at = delivery.due_at
    tried(delivery, at, NO)
    assert (delivery.state, delivery.attempts) == (DeliveryState.FAILED, len(PAUSES) + 1)
    assert (delivery.status, delivery.answer) == (500, "Sorry X: y")
    assert timedelta(hours=22) < at - NOON < DAY
    assert list(PAUSES) == sorted(PAUSES)


def test_pauses_end_after_the_last():
    assert [pause_after(len(PAUSES)), pause_after(len(PAUSES) + 1)] == [PAUSES[-1], None]


def test_what_no_try_would_change_is_given_up_at_once():
    delivery = tried(made(), NOON, DeliveryResult(is_taken=False, is_final=True, answer="Private"))
    assert (delivery.state, delivery.answer) == (DeliveryState.FAILED, "Private")


def test_of_two_processes_one_tries():
    made()
    assert [len(claim_due(NOON, nobody)), len(claim_due(NOON, nobody))] == [1, 0]


def test_a_process_that_died_is_followed_by_another_and_heard_no_more():
    delivery = made()
    [(_, dead)] = claim_due(NOON, nobody)
    assert claim_due(NOON + LEASE - MINUTE, nobody) == []
    [(_, alive)] = claim_due(NOON + LEASE, nobody)
    assert taken_up(delivery.pk, dead) is None
    ended(delivery.pk, dead, TAKEN, NOON + LEASE)
    ended(delivery.pk, alive, NO, NOON + LEASE)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == (DeliveryState.WAITING, 1)


def test_what_a_worker_will_try_is_left_to_it():
    made()
    assert claim_due(NOON, lambda delivery_id, claim: claim == 0) == []


def test_a_clock_that_was_set_back_keeps_no_message():
    made(NOON + 30 * DAY)
    assert len(claim_due(NOON, nobody)) == 1
    assert claim_due(NOON, nobody) == []


def test_some_are_tried_in_a_round():
    rule = make_rule(mails="\n".join(f"a{n}@example.com" for n in range(20)))
    make_for(rule, trial_message("Desk", NOON))
    make_for(rule, trial_message("Desk", NOON))
    assert len(claim_due(NOON, nobody)) == AT_ONCE


def test_what_was_given_up_is_sent_again_on_wish():
    delivery = tried(made(), NOON, DeliveryResult(is_taken=False, is_final=True))
    assert send_again(delivery)
    assert not send_again(delivery)  # a second click on the same page
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == (DeliveryState.WAITING, 0)
    assert len(claim_due(timezone.now(), nobody)) == 1


def test_old_messages_and_alerts_go_and_what_is_open_or_waits_stays():
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
    assert sweep(NOON) == 1
    assert set(AlertDelivery.objects.all()) == set(rows[1:])
    AlertDelivery.objects.all().delete()
    assert sweep(NOON) == 1
    assert set(Alert.objects.all()) == set(old[1:])
    assert sweep(NOON) == 0


class TestMail:
    def test_a_mail_goes_to_its_address_alone(self, settings):
        settings.DEFAULT_FROM_EMAIL = "copilots@example.com"
        assert async_to_sync(mailing.mail)(made()) == DeliveryResult(is_taken=True)
        (sent,) = mail.outbox
        assert (sent.to, sent.cc, sent.bcc) == (["desk@example.com"], [], [])
        assert (sent.subject, sent.from_email) == (
            "[Copilot Admin] Test: Desk",
            "copilots@example.com",
        )

    def test_without_a_mail_server_it_is_said_and_not_tried_again(self, settings):
        settings.EMAIL_BACKEND = DROPS
        assert async_to_sync(mailing.mail)(made()) == DeliveryResult(
            is_taken=False,
            is_final=True,
            answer="No mail server is named. Set EMAIL_HOST and EMAIL_FROM.",
        )

    @pytest.mark.parametrize(
        ("error", "answer"),
        [
            (SMTPServerDisconnected("gone"), "SMTPServerDisconnected: gone"),
            (ConnectionRefusedError(111, "refused"), "ConnectionRefusedError: [Errno 111] refused"),
            (ValueError("odd"), "ValueError: odd"),
        ],
    )
    def test_what_the_mail_server_says_is_kept(self, monkeypatch, error, answer):
        def fails(self):
            raise error

        monkeypatch.setattr("django.core.mail.EmailMessage.send", fails)
        result = async_to_sync(mailing.mail)(made())
        assert result == DeliveryResult(is_taken=False, answer=answer)

    def test_a_mail_server_that_takes_for_ever_is_left(self, monkeypatch):
        left = Event()
        monkeypatch.setattr("django.core.mail.EmailMessage.send", lambda self: left.wait())
        monkeypatch.setattr(mailing, "SECONDS", 0.05)
        result = async_to_sync(mailing.mail)(made())
        left.set()
        assert result == DeliveryResult(is_taken=False, answer="The mail server took too long.")


def test_a_message_that_is_gone_is_nobodys():
    assert taken_up(uuid4(), 1) is None
    ended(uuid4(), 1, TAKEN, NOON + HOUR)
