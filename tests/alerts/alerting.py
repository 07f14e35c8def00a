"""Rules and webhooks for tests, what rules watch, and receivers of webhooks."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async

from copilot_admin.alerts.deliveries import (
    DeliveryResult,
    create_deliveries,
    issue_secret,
    post_signed,
)
from copilot_admin.alerts.evaluation import Transition, apply_measurement, claim_due_rule, measure
from copilot_admin.alerts.messages import build_test_message
from copilot_admin.models import (
    AlertDelivery,
    AlertRule,
    AlertWebhook,
    Conversation,
    Copilot,
    Feedback,
    FeedbackSource,
    HourlyUsage,
    Turn,
)
from copilot_admin.transcripts.feedback import SubmittedFeedback, store_turn_feedback
from tests.agent.providers.upstream import Handler, Reply, Request, Server, serving
from tests.transcripts.store.journaling import Asked

NOON = datetime(2026, 11, 20, 12, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


def make_rule(**changes: Any) -> AlertRule:
    """A rule about thumbs down of all copilots, told by mail."""
    fields = {
        "name": "Thumbs",
        "kind": "thumbs_down",
        "threshold": Decimal(1),
        "window": "24h",
        "minimum": 0,
        "mails": "desk@example.com",
        "due_at": NOON,
        **changes,
    }
    return AlertRule.objects.create(**fields)


def make_webhook(url: str = "https://hooks.example.com/a") -> tuple[AlertWebhook, str]:
    """A webhook and its secret."""
    webhook = AlertWebhook.objects.create(name=f"Hook {AlertWebhook.objects.count()}", url=url)
    return webhook, issue_secret(webhook)


def count(copilot: Copilot, at: datetime = NOON, **counts: Any) -> None:
    """Adds a row of an hour to the rollups."""
    hour = at.replace(minute=0)
    HourlyUsage.objects.create(copilot=copilot, hour=hour, model=str(len(counts)), **counts)


def dislike(copilot: Copilot, times: int = 1, at: datetime = NOON) -> None:
    """Thumbs down about as many questions."""
    for _ in range(times):
        talk = Conversation.objects.create(copilot=copilot, first_at=at, last_at=at, n_down=1)
        turn = Turn.objects.create(conversation=talk, started_at=at)
        given = Feedback.objects.create(turn=turn, source=FeedbackSource.END_USER, value=-1)
        Feedback.objects.filter(pk=given.pk).update(created_at=at)


def evaluate(at: datetime) -> list[Transition]:
    """Evaluate all rules that are due."""
    transitions = []
    while rule := claim_due_rule(at):
        measured = measure(rule, at)
        if measured is not None:
            transitions.append(apply_measurement(rule, measured, at))
    return transitions


def thumb(
    asked: Asked,
    comment: str = "",
    *,
    up: bool = False,
    tags: tuple[str, ...] = (),
    at: datetime = NOON,
) -> None:
    """A judgement of a user, given at some time."""
    vote = "thumbs_up" if up else "thumbs_down"
    turn = asked.run.turn
    assert turn is not None
    store_turn_feedback(
        SubmittedFeedback(vote=vote, user_comment=comment, tags=list(tags)), turn=turn
    )
    turn.feedback.update(created_at=at)


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
