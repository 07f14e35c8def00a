"""Words of users that alerts told of: they go with the conversations that they were said in; writes.

An alert keeps lines of what it told, cut and cleaned, and each message to somebody has them too. No row
says whose they are, so they are known again by their letters and digits.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
import orjson

from copilot_admin.models import (
    Alert,
    AlertDelivery,
    DeliveryEvent,
    DeliveryState,
    Feedback,
    Run,
)

# An alert tells words of the week before it at most; a day more, for clocks that went wrong.
TOLD_WITHIN = timedelta(days=8)
_CLOCKS_DIFFER_BY = timedelta(days=1)
_WITH_WORDS = (DeliveryEvent.OPENED, DeliveryEvent.REMINDER, DeliveryEvent.CLOSED)
_QUOTE = "> "  # before a line of a mail that a user or a provider wrote
_ERASED = "Transcripts that it told of were erased, and its text with them."


@dataclass(frozen=True, slots=True)
class _Said:
    """What an alert may have told of some conversations.

    Attributes:
        letters: Reasons of thumbs, and errors, by their letters and digits.
        since: None was said before.
        until: None was said later.
    """

    letters: frozenset[str]
    since: datetime
    until: datetime


def forget_told(conversation_ids: Collection[int]) -> None:
    """Takes out of alerts and their messages what was said in conversations that are about to go."""
    said = _said_in(conversation_ids)
    if said is None:
        return
    alerts, silent = _may_tell(said), set()
    for alert in alerts.exclude(words=[]).only("words"):
        left = [line for line in alert.words if not _is_of(line, said.letters)]
        if left != alert.words:
            Alert.objects.filter(pk=alert.pk).update(words=left)
        if not left:  # who may not read transcripts sees the messages of an alert without words
            silent.add(alert.pk)
    told = AlertDelivery.objects.filter(event__in=_WITH_WORDS, alert__in=alerts.values("pk"))
    rows = told.exclude(body="").order_by().only("alert", "webhook", "body")
    gone = [row.pk for row in rows if _tells(row, said.letters, or_any=row.alert_id in silent)]
    those = AlertDelivery.objects.filter(pk__in=gone)
    those.filter(state=DeliveryState.WAITING).update(state=DeliveryState.FAILED)
    those.update(body="", answer=_ERASED)


def _said_in(conversation_ids: Collection[int]) -> _Said | None:
    """What an alert may tell of conversations: reasons of thumbs, and errors; None: nothing."""
    thumbs = Feedback.objects.filter(turn__conversation__in=conversation_ids).order_by()
    said = [
        _Said(frozenset((_letters(", ".join(map(str, tags)) + comment),)), asked_at, given_at)
        # What is given again has the moment of the last time: an alert may have told of the first.
        for asked_at, given_at, tags, comment in thumbs.values_list(
            "turn__started_at", "created_at", "tags", "comment"
        )
    ]
    failed = Run.objects.filter(conversation__in=conversation_ids).exclude(error="").order_by()
    said += [
        _Said(frozenset((_letters(error),)), at, at)
        for at, error in failed.values_list("started_at", "error")
    ]
    said = [one for one in said if any(one.letters)]
    if not said:
        return None
    return _Said(
        frozenset().union(*(one.letters for one in said)),
        min(one.since for one in said),
        max(one.until for one in said),
    )


def _may_tell(said: _Said) -> QuerySet[Alert]:
    """The alerts that were open when it was said or opened soon after: of very many, a few."""
    ended_after = Q(closed_at=None) | Q(closed_at__gte=said.since - _CLOCKS_DIFFER_BY)
    opened_before = Q(opened_at__lte=said.until + TOLD_WITHIN)
    return Alert.objects.filter(ended_after, opened_before).order_by()


def _tells(row: AlertDelivery, said: Iterable[str], *, or_any: bool) -> bool:
    """Whether a message has a line of something that was said, or any line at all."""
    lines = _lines(row)
    return bool(lines) if or_any else any(_is_of(line, said) for line in lines)


def _is_of(line: str, said: Iterable[str]) -> bool:
    """Whether a line that was told is the beginning of something that was said."""
    letters = _letters(line)
    return bool(letters) and any(one.startswith(letters) for one in said)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _lines(delivery: AlertDelivery) -> list[str]:
    """The lines of a message that somebody else wrote; a webhook gets them in a list."""
    if delivery.webhook_id is None:
        quoted = (line for line in delivery.body.splitlines() if line.startswith(_QUOTE))
        return [line.removeprefix(_QUOTE) for line in quoted]
    told: Any = orjson.loads(delivery.body)
    return [str(line) for line in told.get("data", {}).get("words", ())]
