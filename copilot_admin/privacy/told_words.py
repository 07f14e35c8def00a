"""Words of users that alerts told of: they go with the conversations that they were said in; writes.

An alert keeps lines of what it told, cut and cleaned, and each message to somebody has them too. No row
says whose they are, so they are known again by their letters and digits.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from django.db.models import Q
import orjson

from copilot_admin.models import (
    Alert,
    AlertDelivery,
    AlertRule,
    DeliveryEvent,
    DeliveryState,
    Feedback,
    Run,
)

_WITH_WORDS = (DeliveryEvent.OPENED, DeliveryEvent.REMINDER, DeliveryEvent.CLOSED)
_QUOTE = "> "  # before a line of a mail that a user or a provider wrote
_ERASED = "Transcripts that it told of were erased, and its text with them."


def forget_told(conversation_ids: Collection[int]) -> None:
    """Takes out of alerts and their messages what was said in conversations that are about to go."""
    if not conversation_ids or not _were_words_told():
        return
    said = frozenset(filter(None, map(_letters, _said_in(conversation_ids))))
    if not said:
        return
    silent = set()  # who may not read transcripts sees the messages of an alert without words
    for alert in Alert.objects.exclude(words=[]):
        left = [line for line in alert.words if not _is_of(line, said)]
        if left != alert.words:
            Alert.objects.filter(pk=alert.pk).update(words=left)
        if not left:
            silent.add(alert.pk)
    messages = AlertDelivery.objects.filter(event__in=_WITH_WORDS).exclude(body="")
    told = messages.filter(Q(alert__rule__with_words=True) | Q(body__contains=_QUOTE))
    gone = [row.pk for row in told if _tells(row, said, or_any=row.alert_id in silent)]
    those = AlertDelivery.objects.filter(pk__in=gone)
    those.filter(state=DeliveryState.WAITING).update(state=DeliveryState.FAILED)
    those.update(body="", answer=_ERASED)


def _were_words_told() -> bool:
    """Whether any rule tells words, or told some: without one nothing is looked for."""
    return (
        AlertRule.objects.filter(with_words=True).exists()
        or Alert.objects.exclude(words=[]).exists()
        or AlertDelivery.objects.filter(event__in=_WITH_WORDS, body__contains=_QUOTE).exists()
    )


def _said_in(conversation_ids: Collection[int]) -> Iterator[str]:
    """What an alert may tell of conversations: reasons of thumbs, and errors."""
    thumbs = Feedback.objects.filter(turn__conversation__in=conversation_ids)
    for tags, comment in thumbs.values_list("tags", "comment"):
        yield ", ".join(map(str, tags)) + comment
    runs = Run.objects.filter(conversation__in=conversation_ids).exclude(error="")
    yield from runs.values_list("error", flat=True)


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
