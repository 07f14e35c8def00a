"""The rows of messages: made, claimed, ended, sent again, swept; writes.

Who sends one holds a claim, a number in its row, and a moment until which he has time. What he still
wants to write after that finds nothing: two processes never end one message, and one that dies is
followed by another.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet
from django.utils import timezone
import orjson

from copilot_admin.alerts.addresses import check_address, typed_addresses
from copilot_admin.alerts.messages import AlertMessage
from copilot_admin.alerts.plain import one_line
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import (
    Alert,
    AlertDelivery,
    AlertDigest,
    AlertRule,
    AlertWebhook,
    DeliveryState,
)
from copilot_admin.models.alerts import LONGEST_ADDRESS
from copilot_admin.storage.many import delete_rows

LEASE = timedelta(minutes=5)  # a try takes a minute at most; a worker may take some to begin
# After each try that failed; after the last pause and one more try, nearly 23 hours, it is given up.
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 180, 360, 360, 360))
KEPT_FOR = timedelta(days=90)
ALERTS_KEPT_FOR = timedelta(days=365)
AT_ONCE = 20
SWEPT_AT_ONCE = 50
LONGEST_ANSWER = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryResult:
    """What came of a try.

    Attributes:
        is_final: Trying again would change nothing.
        status: Of the HTTP answer; None: there is none.
        answer: Its head, or what went wrong: untrusted.
    """

    is_taken: bool
    is_final: bool = False
    status: int | None = None
    answer: str = ""


def make(
    message: AlertMessage,
    *,
    mails: str,
    webhook: AlertWebhook | None,
    alert: Alert | None = None,
    digest: AlertDigest | None = None,
) -> list[AlertDelivery]:
    """Stores a message for each who is to be told; each is delivered by itself."""
    of: dict[str, Any] = {
        "event": message.event,
        "alert": alert,
        "digest": digest,
        "subject": message.subject,
    }
    of |= {"made_at": message.at, "due_at": message.at}
    rows = [_mail(to, AlertDelivery(**of, body=message.text)) for to in typed_addresses(mails)]
    if webhook is not None:
        body = orjson.dumps(dict(message.payload)).decode()
        rows.append(AlertDelivery(**of, webhook=webhook, body=body))
    return AlertDelivery.objects.bulk_create(rows)


def _mail(to: str, row: AlertDelivery) -> AlertDelivery:
    """A message to an address; one that is no address, which no form takes, keeps it from nobody else."""
    row.to = to[:LONGEST_ADDRESS]
    try:
        check_address(to)
    except ConfigurationError as error:
        row.state, row.answer = DeliveryState.FAILED, error.public
    return row


def make_for(
    told: AlertRule | AlertDigest, message: AlertMessage, *, alert: Alert | None = None
) -> list[AlertDelivery]:
    """Stores a message for those whom a rule or a digest tells."""
    digest = told if isinstance(told, AlertDigest) else None
    return make(message, mails=told.mails, webhook=told.webhook, alert=alert, digest=digest)


def pause_after(attempts: int) -> timedelta | None:
    """How long is waited after so many tries that failed; None: it is given up."""
    return PAUSES[attempts - 1] if attempts <= len(PAUSES) else None


def claim_due(at: datetime, waits: Callable[[str, int], bool]) -> list[tuple[str, int]]:
    """Messages that are to be tried now, each with the claim of who tries; one caller gets each.

    Args:
        at: Now.
        waits: Whether a worker will try one anyway, by its id and its claim.
    """
    # What is due later than any pause was written by a clock that went wrong.
    is_due = Q(due_at__lte=at) | Q(due_at__gt=at + max(PAUSES) + LEASE)
    waiting = AlertDelivery.objects.filter(is_due, state=DeliveryState.WAITING).order_by("due_at")
    rows = list(waiting.values_list("pk", "claim", "due_at")[:AT_ONCE])
    return [
        (str(pk), number + 1)
        for pk, number, due_at in rows
        if not waits(str(pk), number)
        and _claimed(pk, number)
        .filter(due_at=due_at)
        .update(claim=F("claim") + 1, due_at=at + LEASE)
    ]


def taken_up(delivery_id: UUID, number: int) -> AlertDelivery | None:
    """A message, for whoever holds the claim; None: somebody else does, or it has ended."""
    return _claimed(delivery_id, number).select_related("webhook").first()


def ended(delivery_id: UUID, number: int, result: DeliveryResult, at: datetime) -> None:
    """Keeps what came of a try, and when the next one is."""
    row = _claimed(delivery_id, number).first()
    if row is None:
        return
    attempts = row.attempts + 1
    pause = None if result.is_final else pause_after(attempts)
    state = DeliveryState.WAITING
    if result.is_taken:
        state = DeliveryState.SENT
    elif pause is None:
        state = DeliveryState.FAILED
    _claimed(delivery_id, number).update(
        state=state,
        attempts=attempts,
        claim=number + 1,
        due_at=at + (pause or timedelta(0)),
        status=result.status,
        answer=one_line(result.answer, most=LONGEST_ANSWER),
        tried_at=at,
    )


def send_again(delivery: AlertDelivery) -> bool:
    """Lets a message be tried at once, with all its tries before it; whoever tries it now is not heard.

    Returns:
        Whether it could be: nothing became of it meanwhile.
    """
    rows = AlertDelivery.objects.filter(pk=delivery.pk, claim=delivery.claim)
    return bool(
        rows.update(
            state=DeliveryState.WAITING, attempts=0, due_at=timezone.now(), claim=F("claim") + 1
        )
    )


def sweep(at: datetime) -> int:
    """Deletes some messages and alerts that are old and have ended.

    Returns:
        How many went.
    """
    old = AlertDelivery.objects.filter(made_at__lt=at - KEPT_FOR).order_by("made_at")
    messages = old.exclude(state=DeliveryState.WAITING).values_list("pk", flat=True)
    gone = delete_rows(AlertDelivery._meta.pk, list(messages[:SWEPT_AT_ONCE]))
    closed = Alert.objects.filter(opened_at__lt=at - ALERTS_KEPT_FOR, deliveries=None)
    alerts = closed.exclude(closed_at=None).order_by("opened_at").values_list("pk", flat=True)
    return gone + delete_rows(Alert._meta.pk, list(alerts[:SWEPT_AT_ONCE]))


def _claimed(delivery_id: UUID, number: int) -> QuerySet[AlertDelivery]:
    return AlertDelivery.objects.filter(
        pk=delivery_id, claim=number, state=DeliveryState.WAITING
    ).order_by()
