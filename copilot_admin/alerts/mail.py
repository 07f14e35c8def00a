"""Mails: plain text, one to each address, by the mail server that the environment names."""

import asyncio
from email.utils import parseaddr

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils.translation import gettext as _

from copilot_admin.accounts.mailing import hand_over
from copilot_admin.alerts.deliveries import DeliveryResult
from copilot_admin.config.mail import DROPS
from copilot_admin.models import AlertDelivery

SECONDS = 60.0  # of one mail; a server that sends a line at a time could hold it for ever


def is_possible() -> bool:
    """Whether there is a mail server."""
    return bool(settings.EMAIL_BACKEND != DROPS)


async def mail(delivery: AlertDelivery) -> DeliveryResult:
    """Tries once to send a message by mail."""
    if not is_possible():
        sentence = _("No mail server is named. Set EMAIL_HOST and EMAIL_FROM.")
        return DeliveryResult(is_taken=False, is_final=True, answer=sentence)
    try:
        async with asyncio.timeout(SECONDS):
            why = await asyncio.wrap_future(hand_over(message_of(delivery)))
    except TimeoutError:
        return DeliveryResult(is_taken=False, answer=_("The mail server took too long."))
    return DeliveryResult(is_taken=not why, answer=why)


def message_of(delivery: AlertDelivery) -> EmailMessage:
    """The mail; every try of it has the same id, so that a mailbox may see that it has it."""
    domain = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "localhost"
    headers = {"Message-ID": f"<{delivery.pk}@{domain}>", "Auto-Submitted": "auto-generated"}
    return EmailMessage(delivery.subject, delivery.body, to=[delivery.to], headers=headers)
