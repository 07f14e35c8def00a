"""Delivery of messages by mail and webhook: one row per recipient, retried with backoff.

Webhooks are signed as in Standard Webhooks, https://www.standardwebhooks.com (version 1).

The sender of a message leases its row: `claim` counts the leases and `due_at` is when the lease
expires. A result is stored only under the same claim, so two processes never finish one message.
"""

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parseaddr
from functools import partial
import hashlib
import hmac
import secrets
from smtplib import SMTPException
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django_tasks import task
import orjson

from copilot_admin.agent.fetching.egress import Egress, FetchFailed
from copilot_admin.alerts.messages import AlertMessage, to_line
from copilot_admin.config import logs
from copilot_admin.config.encryption import decrypt, encrypt
from copilot_admin.copilots.providers import WEBHOOK_SECRETS
from copilot_admin.errors import ConfigurationError
from copilot_admin.jobs.tasks import is_queued
from copilot_admin.models import (
    Alert,
    AlertDelivery,
    AlertDigest,
    AlertRule,
    AlertWebhook,
    DeliveryState,
)
from copilot_admin.storage.writer import READER, WRITER

LEASE = timedelta(minutes=5)  # an attempt takes a minute at most, but may wait for a worker
# Pause after each failed attempt; after the last one, nearly 23 hours later, it is given up.
BACKOFF = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 180, 360, 360, 360))
DELIVERY_RETENTION = timedelta(days=90)
ALERT_RETENTION = timedelta(days=365)
MAX_MESSAGES_PER_CALL = 20
MAX_ANSWER_CHARACTERS = 500
MAIL_TIMEOUT_SECONDS = 60.0
SECRET_PREFIX = "whsec_"  # noqa: S105  # the public prefix of every secret
SECRET_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryResult:
    is_delivered: bool
    is_final: bool = False  # another attempt would change nothing
    status: int | None = None
    answer: str = ""  # start of the response, or the error; untrusted


def create_deliveries(
    owner: AlertRule | AlertDigest | AlertWebhook,
    message: AlertMessage,
    *,
    alert: Alert | None = None,
) -> list[AlertDelivery]:
    """Store a message for each recipient of a rule or digest, or for a single webhook."""
    values: dict[str, Any] = {
        "event": message.event,
        "alert": alert,
        "digest": owner if isinstance(owner, AlertDigest) else None,
        "subject": message.subject,
        "made_at": message.at,
        "due_at": message.at,
    }
    mails = "" if isinstance(owner, AlertWebhook) else owner.mails
    webhook = owner if isinstance(owner, AlertWebhook) else owner.webhook
    text = message.text
    rows = [AlertDelivery(**values, to=address, body=text) for address in mails.splitlines()]
    if webhook is not None:
        body = orjson.dumps(dict(message.payload)).decode()
        rows.append(AlertDelivery(**values, webhook=webhook, body=body))
    return AlertDelivery.objects.bulk_create(rows)


def enqueue_due_deliveries() -> None:
    """Lease due messages for the task worker, and delete old ones. Call it in a transaction."""
    now = timezone.now()
    waiting = AlertDelivery.objects.filter(due_at__lte=now, state=DeliveryState.WAITING)
    for row in waiting.order_by("due_at").only("claim", "due_at")[:MAX_MESSAGES_PER_CALL]:
        if is_queued(deliver, str(row.pk), row.claim):
            continue
        mine = _claimed(row.pk, row.claim).filter(due_at=row.due_at)
        if mine.update(claim=F("claim") + 1, due_at=now + LEASE):
            # The task reads with another connection, which sees the claim after the commit.
            transaction.on_commit(partial(deliver.enqueue, str(row.pk), row.claim + 1))
    messages = AlertDelivery.objects.filter(made_at__lt=now - DELIVERY_RETENTION)
    messages.exclude(state=DeliveryState.WAITING).delete()
    alerts = Alert.objects.filter(opened_at__lt=now - ALERT_RETENTION, deliveries=None)
    alerts.exclude(closed_at=None).delete()


@task
async def deliver(delivery_id: str, claim: int) -> None:
    """Send a message, if it is still leased under this claim, and store the result."""
    pk = UUID(delivery_id)
    delivery = await READER.run(_claimed(pk, claim).select_related("webhook").first)
    if delivery is None:
        return
    if delivery.webhook is None:
        result = await send_mail(delivery)
    else:
        result = await post_signed(delivery, delivery.webhook, timezone.now())
    await WRITER.run(partial(store_result, pk, claim, result, timezone.now()))


async def send_mail(delivery: AlertDelivery) -> DeliveryResult:
    if not can_send_mail():
        sentence = _("No mail server is configured. Set EMAIL_HOST and EMAIL_FROM.")
        return DeliveryResult(is_delivered=False, is_final=True, answer=sentence)
    try:
        async with asyncio.timeout(MAIL_TIMEOUT_SECONDS):
            await asyncio.to_thread(build_mail(delivery).send)
    except TimeoutError:
        return DeliveryResult(is_delivered=False, answer=_("The mail server timed out."))
    except (SMTPException, OSError, ValueError) as error:
        return DeliveryResult(is_delivered=False, answer=f"{type(error).__name__}: {error}")
    return DeliveryResult(is_delivered=True)


def can_send_mail() -> bool:
    return bool(settings.EMAIL_BACKEND != "django.core.mail.backends.dummy.EmailBackend")


def build_mail(delivery: AlertDelivery) -> EmailMessage:
    """Build the mail; all attempts share a Message-ID, so that mailboxes can drop duplicates."""
    domain = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "localhost"
    headers = {"Message-ID": f"<{delivery.pk}@{domain}>", "Auto-Submitted": "auto-generated"}
    return EmailMessage(delivery.subject, delivery.body, to=[delivery.to], headers=headers)


def store_result(delivery_id: UUID, claim: int, result: DeliveryResult, now: datetime) -> None:
    row = _claimed(delivery_id, claim).first()
    if row is None:
        return
    attempts = row.attempts + 1
    retries = not result.is_delivered and not result.is_final and attempts <= len(BACKOFF)
    state = DeliveryState.WAITING if retries else DeliveryState.FAILED
    _claimed(delivery_id, claim).update(
        state=DeliveryState.SENT if result.is_delivered else state,
        attempts=attempts,
        claim=claim + 1,
        due_at=now + BACKOFF[attempts - 1] if retries else now,
        status=result.status,
        answer=to_line(result.answer, MAX_ANSWER_CHARACTERS),
        tried_at=now,
    )


def retry_delivery(delivery: AlertDelivery) -> bool:
    """Reset a message for another series of attempts; return False if it changed meanwhile."""
    rows = AlertDelivery.objects.filter(pk=delivery.pk, claim=delivery.claim)
    changed = rows.update(
        state=DeliveryState.WAITING, attempts=0, due_at=timezone.now(), claim=F("claim") + 1
    )
    return bool(changed)


def _claimed(delivery_id: UUID, claim: int) -> QuerySet[AlertDelivery]:
    return AlertDelivery.objects.filter(
        pk=delivery_id, claim=claim, state=DeliveryState.WAITING
    ).order_by()


def issue_secret(webhook: AlertWebhook) -> str:
    """Give a saved webhook a new secret; the returned text is the only readable copy."""
    text = SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode("ascii")
    webhook.secret_cipher = encrypt(text, location=WEBHOOK_SECRETS.place(webhook.pk))
    webhook.save(update_fields=["secret_cipher"])
    return text


def decrypt_secret(webhook: AlertWebhook) -> str:
    """Decrypt the secret of a webhook and hide it in logs; raise ConfigurationError if it can't."""
    text = decrypt(webhook.secret_cipher, location=WEBHOOK_SECRETS.place(webhook.pk))
    logs.hide(text)
    return text


def build_signature_headers(
    secret: str, *, message_id: str, at: datetime, body: bytes
) -> Mapping[str, str]:
    """Build the headers that authenticate a body: HMAC-SHA256 over id, time and body."""
    seconds = str(int(at.timestamp()))
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    content = b".".join((message_id.encode(), seconds.encode(), body))
    digest = hmac.new(key, content, hashlib.sha256).digest()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": seconds,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode('ascii')}",
    }


async def post_signed(
    delivery: AlertDelivery, webhook: AlertWebhook, now: datetime
) -> DeliveryResult:
    body = delivery.body.encode()
    try:
        secret = decrypt_secret(webhook)
        signature = build_signature_headers(secret, message_id=str(delivery.pk), at=now, body=body)
        headers = {"Content-Type": "application/json", "User-Agent": "copilot-admin", **signature}
        egress = Egress(settings.FETCH_ALLOW)
        status, answer = await egress.post(webhook.url, body, headers=headers)
    except ConfigurationError as error:
        return DeliveryResult(is_delivered=False, is_final=True, answer=error.public)
    except FetchFailed as error:
        return DeliveryResult(is_delivered=False, is_final=error.is_private, answer=error.detail)
    return DeliveryResult(is_delivered=200 <= status < 300, status=status, answer=answer)
