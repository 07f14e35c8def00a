"""Webhooks: their secrets, and requests that a receiver can tell from forged ones.

Source of names and form: Standard Webhooks, https://www.standardwebhooks.com (version 1).
"""

import base64
from collections.abc import Mapping
from datetime import datetime
import hashlib
import hmac
import secrets

from django.conf import settings

from copilot_admin.agent.fetching.egress import Egress
from copilot_admin.agent.fetching.posting import PostFailed, post
from copilot_admin.alerts.deliveries import DeliveryResult
from copilot_admin.config import logs
from copilot_admin.config.encryption import SealedPlace, seal, unseal
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import AlertDelivery, AlertWebhook

SECRET_START = "whsec_"  # noqa: S105  # it begins every secret
SECRET_BYTES = 32


def issue_secret(webhook: AlertWebhook) -> str:
    """Gives a webhook that has been saved a new secret; the returned text is the only copy."""
    text = SECRET_START + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode("ascii")
    webhook.secret_cipher = seal(text, place=_place(webhook))
    webhook.save(update_fields=["secret_cipher"])
    return text


def secret_of(webhook: AlertWebhook) -> str:
    """The secret of a webhook.

    Raises:
        ConfigurationError: It does not open.
    """
    text = unseal(webhook.secret_cipher, place=_place(webhook))
    logs.hide(text)
    return text


def signed(secret: str, *, message_id: str, at: datetime, body: bytes) -> Mapping[str, str]:
    """The headers that say who sent a body, and when: HMAC-SHA256 over id, time and body."""
    seconds = str(int(at.timestamp()))
    key = base64.b64decode(secret.removeprefix(SECRET_START))
    content = b".".join((message_id.encode(), seconds.encode(), body))
    digest = hmac.new(key, content, hashlib.sha256).digest()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": seconds,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode('ascii')}",
    }


async def post_signed(
    delivery: AlertDelivery, webhook: AlertWebhook, at: datetime
) -> DeliveryResult:
    """Tries once to send a message to a webhook, signed."""
    body = delivery.body.encode()
    try:
        secret = secret_of(webhook)
        proof = signed(secret, message_id=str(delivery.pk), at=at, body=body)
        headers = {"Content-Type": "application/json", "User-Agent": "copilot-admin", **proof}
        egress = Egress(settings.FETCH_ALLOW)
        posted = await post(webhook.url, body, headers=headers, egress=egress)
    except ConfigurationError as error:
        return DeliveryResult(is_taken=False, is_final=True, answer=error.public)
    except PostFailed as error:
        return DeliveryResult(is_taken=False, is_final=error.is_final, answer=error.public)
    return DeliveryResult(is_taken=posted.is_taken, status=posted.status, answer=posted.head)


def _place(webhook: AlertWebhook) -> SealedPlace:
    return SealedPlace(table="alertwebhook", row=str(webhook.pk), field="secret")
