"""Cuts Data messages to the room that there is: between the rows of a list, and it is said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
import json

from protocol.data import MISSING, DataMessage, fitting, render
from protocol.json import Json


@dataclass(frozen=True, slots=True)
class Fitted:
    """A Data message as text, and a sentence for the user where not all of it fits."""

    text: str
    cut: str = ""


def within(messages: Sequence[DataMessage], limit: int) -> list[Fitted]:
    """The texts, cut to the limit; the latest messages keep most."""
    fitted: list[Fitted] = []
    for message in reversed(messages):
        one = _fitted(message, limit)
        limit = max(limit - len(one.text), 0)
        fitted.append(one)
    return fitted[::-1]


@dataclass(frozen=True, slots=True)
class _Rows:
    """The longest list of a message: its data, or a member of it."""

    message: DataMessage
    name: str | None
    rows: Sequence[Json]

    def notice(self, kept: int) -> str:
        """Says how many rows are shown."""
        where = "" if self.name is None else f" of {json.dumps(self.name, ensure_ascii=False)}"
        return f"Showing first {kept} of {len(self.rows)} rows{where}."

    def only(self, kept: int) -> DataMessage:
        """The Data message with its first rows only."""
        rows, data = list(self.rows[:kept]), self.message.data
        if self.name is not None and isinstance(data, Mapping):
            return replace(self.message, data={**data, self.name: rows})
        return replace(self.message, data=rows)


def _fitted(message: DataMessage, limit: int) -> Fitted:
    """The message; with its first rows if all are too many, without data if there are none."""
    found = _longest_list(message)
    if found is None:
        text = render(message)
        return Fitted(text) if len(text) <= limit else _without_data(message)
    count = len(found.rows)
    if fitting(found.rows, limit=limit - len(render(found.only(0)))) == count:
        text = render(message)
        if len(text) <= limit:
            return Fitted(text)
    frame = render(_noted(found.only(0), found.notice(count)))  # with the longest notice there is
    kept = fitting(found.rows, limit=limit - len(frame))
    while kept:
        notice = found.notice(kept)
        text = render(_noted(found.only(kept), notice))
        if len(text) <= limit:
            return Fitted(text, _cut_sentence(message, notice))
        kept = min(kept - 1, kept * limit // len(text))  # members of objects are indented further
    return _without_data(message)


def _longest_list(message: DataMessage) -> _Rows | None:
    data = message.data
    if isinstance(data, list):
        return _Rows(message, None, data)
    members = data.items() if isinstance(data, Mapping) else ()
    lists = [_Rows(message, name, value) for name, value in members if isinstance(value, list)]
    return max(lists, key=lambda one: len(one.rows), default=None)


def _without_data(message: DataMessage) -> Fitted:
    notice = "The data is left out: too much."
    text = render(_noted(replace(message, data=MISSING), notice))
    return Fitted(text, _cut_sentence(message, notice))


def _cut_sentence(message: DataMessage, notice: str) -> str:
    about = message.description or f"{message.kind} {message.instance or ''}".strip()
    return (
        f"Not all data fits: {about.removesuffix('.')}. {notice} Ask about less to have all of it."
    )


def _noted(message: DataMessage, notice: str) -> DataMessage:
    about = " ".join(filter(None, (message.description, notice)))
    return replace(message, description=about)
