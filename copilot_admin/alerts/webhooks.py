"""Webhooks signed as in Standard Webhooks, https://www.standardwebhooks.com (version 1)."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
import hashlib
import hmac
import secrets

from django.conf import settings

from copilot_admin.agent.fetching.egress import Egress
from copilot_admin.agent.fetching.posting import PostFailed, post
from copilot_admin.config import logs
from copilot_admin.config.encryption import SecretLocation, decrypt, encrypt
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import AlertDelivery, AlertWebhook

SECRET_PREFIX = "whsec_"  # noqa: S105  # the public prefix of every secret
SECRET_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryResult:
    is_delivered: bool
    is_final: bool = False  # another attempt would change nothing
    status: int | None = None
    answer: str = ""  # start of the response, or the error; untrusted


def issue_secret(webhook: AlertWebhook) -> str:
    """Give a saved webhook a new secret; the returned text is the only readable copy."""
    text = SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode("ascii")
    webhook.secret_cipher = encrypt(text, location=_place(webhook))
    webhook.save(update_fields=["secret_cipher"])
    return text


def decrypt_secret(webhook: AlertWebhook) -> str:
    """Decrypt the secret of a webhook and hide it in logs.

    Raises:
        ConfigurationError: No configured key decrypts it.
    """
    text = decrypt(webhook.secret_cipher, location=_place(webhook))
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
        posted = await post(webhook.url, body, headers=headers, egress=egress)
    except ConfigurationError as error:
        return DeliveryResult(is_delivered=False, is_final=True, answer=error.public)
    except PostFailed as error:
        return DeliveryResult(is_delivered=False, is_final=error.is_final, answer=error.public)
    return DeliveryResult(is_delivered=posted.is_accepted, status=posted.status, answer=posted.head)


def _place(webhook: AlertWebhook) -> SecretLocation:
    return SecretLocation(table="alertwebhook", row=str(webhook.pk), field="secret")
