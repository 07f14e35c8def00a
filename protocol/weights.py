"""How much there is of an event."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass

from protocol.json import Json


def values_of(whole: object) -> Iterator[Json]:
    """Yield the JSON values that an event and its parts hold."""
    pending: list[object] = [whole]
    while pending:
        value = pending.pop()
        if is_dataclass(value):
            pending += (getattr(value, one.name) for one in fields(value))
        elif isinstance(value, tuple) and value and is_dataclass(value[0]):
            pending += value
        else:
            yield value  # type: ignore[misc]  # fields of events are JSON, enums or dataclasses


def weighs_more(roots: Iterable[Json], *, than: int, text: int) -> bool:
    """Return whether JSON values have together more members, elements and texts than this."""
    for root in roots:
        pending = [root]
        while pending and than >= 0:
            value = pending.pop()
            if isinstance(value, str):
                than -= len(value) // text
            elif isinstance(value, Mapping | Sequence):
                than -= len(value)
                if than >= 0:
                    pending += value
                    pending += value.values() if isinstance(value, Mapping) else ()
        than -= 1
        if than < 0:
            return True
    return False
