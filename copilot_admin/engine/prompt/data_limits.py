"""Cuts Data messages to the room that there is: between the rows of a list, and it is said."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
import json

from protocol.data import MISSING, DataMessage, fitting, render
from protocol.json import Json


def within(messages: Sequence[DataMessage], limit: int) -> Iterator[str]:
    """The texts, cut to the limit; the latest messages keep most."""
    texts: list[str] = []
    for message in reversed(messages):
        text = _fitted(message, limit)
        limit = max(limit - len(text), 0)
        texts.append(text)
    return reversed(texts)


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


def _fitted(message: DataMessage, limit: int) -> str:
    """The message; with its first rows if all are too many, without data if there are none."""
    found = _longest_list(message)
    if found is None:
        text = render(message)
        return text if len(text) <= limit else _without_data(message)
    count = len(found.rows)
    if fitting(found.rows, limit=limit - len(render(found.only(0)))) == count:
        text = render(message)
        if len(text) <= limit:
            return text
    frame = render(_noted(found.only(0), found.notice(count)))  # with the longest notice there is
    kept = fitting(found.rows, limit=limit - len(frame))
    while kept:
        text = render(_noted(found.only(kept), found.notice(kept)))
        if len(text) <= limit:
            return text
        kept = min(kept - 1, kept * limit // len(text))  # members of objects are indented further
    return _without_data(message)


def _longest_list(message: DataMessage) -> _Rows | None:
    data = message.data
    if isinstance(data, list):
        return _Rows(message, None, data)
    members = data.items() if isinstance(data, Mapping) else ()
    lists = [_Rows(message, name, value) for name, value in members if isinstance(value, list)]
    return max(lists, key=lambda one: len(one.rows), default=None)


def _without_data(message: DataMessage) -> str:
    return render(_noted(replace(message, data=MISSING), "The data is left out: too much."))


def _noted(message: DataMessage, notice: str) -> DataMessage:
    about = " ".join(filter(None, (message.description, notice)))
    return replace(message, description=about)
