"""JSON values as types, and coercion of untrusted ones: a mismatch counts as missing."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]


def text_of(value: Json) -> str:
    """Return a text, or an empty one."""
    return value if isinstance(value, str) else ""


def object_of(value: Json) -> JsonObject:
    """Return an object, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def list_of(value: Json) -> Sequence[Json]:
    """Return a list, or an empty one."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def objects_of(value: Json) -> list[JsonObject]:
    """Return the objects in a list; other elements are skipped."""
    return [one for one in list_of(value) if isinstance(one, Mapping)]


def is_number(value: object) -> bool:
    """Return whether a value is a number; true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def whole_number_of(value: Json) -> int | None:
    """Return a whole number, or None; true and false are not numbers."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
