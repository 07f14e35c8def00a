"""Receivers of webhooks on the loopback, and deliveries to them."""

import ssl
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async

from copilot_admin.alerts.deliveries import create_deliveries
from copilot_admin.alerts.messages import build_test_message
from copilot_admin.alerts.webhooks import DeliveryResult, post_signed
from copilot_admin.models import AlertDelivery, AlertWebhook
from tests.agent.providers.upstream import Handler, Reply, Request, Server, serving
from tests.alerts.alerting import NOON, make_webhook


def answering(status: int = 200, body: bytes = b"ok", **headers: str) -> Handler:
    """A receiver that answers at once."""

    async def handler(request: Request, reply: Reply) -> None:
        await reply.start(status, type="text/plain", **headers)
        if body:
            await reply.send(body)
        await reply.end()

    return handler


async def silent(request: Request, reply: Reply) -> None:
    """A receiver that never answers."""
    await reply.left.wait()


def delivery_to(url: str) -> tuple[AlertDelivery, AlertWebhook, str]:
    """A message to a webhook, and the secret of that."""
    webhook, secret = make_webhook(url)
    (delivery,) = create_deliveries(webhook, build_test_message("Desk", NOON))
    return delivery, webhook, secret


def posted(
    handler: Handler, *, path: str = "/hook", certificate: ssl.SSLContext | None = None
) -> tuple[DeliveryResult, Server, AlertDelivery, str]:
    """Tries a message at a receiver once."""
    found: list[Any] = []

    async def run() -> None:
        async with serving(handler, tls=certificate) as server:
            delivery, webhook, secret = await _made(server.url + path)
            result = await post_signed(delivery, webhook, NOON)
            found.extend((result, server, delivery, secret))

    async_to_sync(run)()
    return tuple(found)  # type: ignore[return-value]


async def _made(url: str) -> tuple[AlertDelivery, AlertWebhook, str]:
    return await sync_to_async(delivery_to)(url)
