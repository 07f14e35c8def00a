"""How much there is of an event, found out in less time than it takes to say it."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import TypeGuard

from protocol.events import Event, MessageChunk
from protocol.json import Json
from protocol.walk import weighs_more

# Values of an event: to say so many, to a client of whatever generation, takes about 2 ms.
HEAVY = 1000
_TEXT = 64  # characters that take as long as a value


def is_heavy(output: object) -> TypeGuard[Event]:
    """Whether saying something takes so long that others would wait for it."""
    if isinstance(output, MessageChunk) or not isinstance(output, Event):
        return False
    return weighs_more(values_of(output), than=HEAVY, text=_TEXT)


def values_of(whole: object) -> Iterator[Json]:
    """What an event, or a query, and its parts hold, as it is."""
    pending: list[object] = [whole]
    while pending:
        value = pending.pop()
        if is_dataclass(value):
            pending += (getattr(value, one.name) for one in fields(value))
        elif isinstance(value, tuple) and value and is_dataclass(value[0]):
            pending += value
        else:
            yield value  # type: ignore[misc]  # fields of events are JSON, enums or dataclasses
