"""Messages delivered in the background: handed to the server's loop, or sent by a worker."""

import asyncio
from functools import partial
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django_tasks import task

from copilot_admin.alerts.deliveries import DeliveryResult, claim_due, ended, sweep, taken_up
from copilot_admin.alerts.mail import mail
from copilot_admin.alerts.webhooks import post_signed
from copilot_admin.jobs.background import beside, in_loop, is_server
from copilot_admin.jobs.tasks import waits_for_worker
from copilot_admin.models import AlertDelivery
from copilot_admin.runs.tasks import spawn
from copilot_admin.storage.writer import READER, WRITER


@task
def deliver(delivery_id: str, claim: int) -> None:
    """Tries a message once; a server does that in its loop, where nobody waits for a slow receiver."""
    if is_server():
        beside(partial(_begin, delivery_id, claim))
    else:
        in_loop(attempt(UUID(delivery_id), claim))


async def attempt(delivery_id: UUID, claim: int) -> None:
    """Sends a message, if it is still to be sent, and keeps what came of it."""
    delivery = await READER.run(partial(taken_up, delivery_id, claim))
    if delivery is None:
        return
    result = await _sent(delivery)
    await WRITER.run(partial(ended, delivery_id, claim, result, timezone.now()))


def send_due() -> None:
    """Has messages tried whose time has come, unless they wait for a worker; old ones go.

    Call it in a transaction.
    """
    now = timezone.now()
    for delivery_id, claim in claim_due(now, partial(waits_for_worker, deliver)):
        # Who tries it reads with another connection: before the commit he would not find the claim.
        transaction.on_commit(partial(deliver.enqueue, delivery_id, claim))
    sweep(now)


async def _sent(delivery: AlertDelivery) -> DeliveryResult:
    if delivery.webhook is not None:
        return await post_signed(delivery, delivery.webhook, timezone.now())
    return await mail(delivery)


def _begin(delivery_id: str, claim: int) -> asyncio.Task[None]:
    return spawn(attempt(UUID(delivery_id), claim), name=f"delivery {delivery_id}")
