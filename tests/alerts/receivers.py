"""Receivers of webhooks on the loopback, and deliveries to them."""

from asgiref.sync import async_to_sync, sync_to_async

from copilot_admin.alerts.deliveries import DeliveryResult, create_deliveries, post_signed
from copilot_admin.alerts.messages import build_test_message
from copilot_admin.models import AlertDelivery
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


def posted(handler: Handler) -> tuple[DeliveryResult, Server, AlertDelivery, str]:
    """Try a message at a receiver once; return also the secret of its webhook."""

    async def run() -> tuple[DeliveryResult, Server, AlertDelivery, str]:
        async with serving(handler) as server:
            webhook, secret = await sync_to_async(make_webhook)(f"{server.url}/hook")
            message = build_test_message("Desk", NOON)
            (delivery,) = await sync_to_async(create_deliveries)(webhook, message)
            return await post_signed(delivery, webhook, NOON), server, delivery, secret

    return async_to_sync(run)()
