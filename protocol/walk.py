"""Rebuild and weigh JSON values of any depth without recursion."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from typing import TypeAlias

from protocol.json import Json

Scalar: TypeAlias = str | int | float | bool | None
_Container: TypeAlias = "dict[str, Json] | list[Json]"
_PARSED_CONTAINERS = (dict, list)


def rebuild(
    root: Json,
    *,
    scalar: Callable[[Scalar], Scalar] = lambda value: value,
    named: Mapping[str, Callable[[Scalar], Scalar]] | None = None,
    key: Callable[[str], str] = lambda name: name,
    keep: Callable[[str, Json, str], bool] = lambda name, value, parent: True,
    leave: frozenset[str] = frozenset(),
) -> Json:
    """Copy a JSON value into plain dicts and lists, changing it on the way.

    Args:
        root: The value; it is not changed.
        scalar: What becomes of each text, number, boolean and null.
        named: The same by the key, before it is changed, under which they or their list stand: has
            one for every key, and "" for what stands under none.
        key: What becomes of each key; of two keys that become one, the first one's value stays.
        keep: Whether a member or element stays: called with its key ("" for an element), its value
            and the key under which its object or list was found ("" at the root).
        leave: Keys whose values are taken over as they are.

    Returns:
        The new value.
    """
    box: list[Json] = [None]
    pending: list[tuple[Json, _Container, str | int, str]] = [(root, box, 0, "")]
    while pending:
        source, target, slot, parent = pending.pop()
        if isinstance(source, Mapping):
            members: dict[str, Json] = {}
            _put(target, slot, members)
            for name, value in source.items():
                clean = key(name)
                if clean in members or not keep(name, value, parent):
                    continue
                if name in leave:
                    members[clean] = value
                elif isinstance(value, Scalar):
                    members[clean] = (scalar if named is None else named[name])(value)
                else:
                    members[clean] = None  # keeps the member's place
                    pending.append((value, members, clean, name))
        elif isinstance(source, Sequence) and not isinstance(source, str):
            kept = [value for value in source if keep("", value, parent)]
            elements: list[Json] = [None] * len(kept)
            of_element = scalar if named is None else named[parent]
            _put(target, slot, elements)
            for index, value in enumerate(kept):
                if isinstance(value, Scalar):
                    elements[index] = of_element(value)
                else:
                    pending.append((value, elements, index, parent))
        else:
            _put(target, slot, scalar(source))
    return box[0]


def _put(target: _Container, slot: str | int, value: Json) -> None:
    target[slot] = value  # type: ignore[index]  # a key for dicts, an index for lists


def finite(value: Scalar) -> Scalar:
    """The value; null in the place of NaN and the infinities, which JSON does not have."""
    return None if isinstance(value, float) and not isfinite(value) else value


def values_in(value: Json) -> int:
    """How many values are in it, itself included."""
    count, pending = 0, [value]
    while pending:
        one = pending.pop()
        count += 1
        if isinstance(one, Mapping):
            pending.extend(one.values())
        elif isinstance(one, list | tuple):
            pending.extend(one)
    return count


def is_deeper(value: Json, *, than: int) -> bool:
    """Whether lists and objects, as a parser makes them, stand in each other more often than this."""
    level = [value] if type(value) in _PARSED_CONTAINERS else []
    for _ in range(than):
        level = [
            member
            for one in level
            for member in (one.values() if type(one) is dict else one)  # type: ignore[union-attr]  # a list
            if type(member) in _PARSED_CONTAINERS
        ]
        if not level:
            return False
    return True


def weighs_more(roots: Iterable[Json], *, than: int, text: int) -> bool:
    """Whether JSON values have together more members, elements and texts than so many.

    Args:
        roots: The values.
        than: So many; counting ends there.
        text: So many characters of a text count as one more.
    """
    return room_left(roots, room=than, text=text) < 0


def room_left(roots: Iterable[Json], *, room: int, text: int) -> int:
    """What JSON values leave of a room; below 0: they do not fit. Counted as above."""
    for root in roots:
        pending = [root]
        while pending and room >= 0:
            value = pending.pop()
            if isinstance(value, str):
                room -= len(value) // text
            elif isinstance(value, Mapping | Sequence):
                room -= len(value)
                if room >= 0:
                    pending += value
                    pending += value.values() if isinstance(value, Mapping) else ()
        room -= 1
        if room < 0:
            break
    return room
