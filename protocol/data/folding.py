"""Turns a list of messages into the list that a model sees: Data messages become text."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from protocol.data.merging import merged
from protocol.data.message import TYPES, DataMessage, read_data_message
from protocol.data.rendering import render
from protocol.json import Json, JsonObject


class Position(StrEnum):
    """Where the text of Data messages stands."""

    END = "end"  # behind all other messages
    FIRST = "first"  # where the first message of its identity stood


def fold(
    messages: Sequence[JsonObject], *, position: Position = Position.END, merging: bool = True
) -> list[JsonObject]:
    r"""What the model sees of text and Data messages.

    Text passes as it is. The list given is not changed.

    Args:
        messages: Flat (`{"type": "text", ...}`) or in envelopes (`{"role", "content": {...}}`).
        position: Where the Data messages go.
        merging: False leaves it to the model to put the pieces of one thing together.

    Raises:
        ValueError: A message is none, or of a type that nobody knows; the text says which one.

    Examples:
        >>> fold([{"type": "data", "kind": "user", "data": {}}])[0]["content"]["text"]
        '## Data: ¶user\n{}'
    """
    read = [_read(message, number=number) for number, message in enumerate(messages)]
    if position is Position.END:
        data = [one for one in read if one is not None]
        texts = [message for message, one in zip(messages, read, strict=True) if one is None]
        return [*texts, *map(_said, folded(data, merging=merging))]
    if not merging:
        return [
            message if one is None else _said(one)
            for message, one in zip(messages, read, strict=True)
        ]
    blocks = {one.identity: one for one in folded([one for one in read if one is not None])}
    view: list[JsonObject] = []
    for message, one in zip(messages, read, strict=True):
        if one is None:
            view.append(message)
        elif (block := blocks.pop(one.identity, None)) is not None:
            view.append(_said(block))
    return view


def folded(messages: Sequence[DataMessage], *, merging: bool = True) -> tuple[DataMessage, ...]:
    """The messages as the model is to see them: merged, or each for itself."""
    return merged(messages) if merging else tuple(messages)


def _read(message: Any, *, number: int) -> DataMessage | None:
    if not isinstance(message, Mapping):
        raise ValueError(f"Message {number} is no object.")
    try:
        return _data_message(message)
    except ValueError as error:
        raise ValueError(f"Message {number}: {error}") from error


def _data_message(message: Mapping[str, Json]) -> DataMessage | None:
    content = message.get("content")
    if isinstance(content, str):
        return None  # an envelope around plain text
    found = read_data_message(message)
    type_ = (content if isinstance(content, Mapping) else message).get("type")
    if found is None and type_ != "text":
        raise ValueError(f"{type_!r} is no type of a message; those are text, {', '.join(TYPES)}.")
    return found


def _said(message: DataMessage) -> JsonObject:
    return {"role": message.role, "content": {"type": "text", "text": render(message)}}
