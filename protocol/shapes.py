"""JSON values of anybody as the shape that is wanted: what has another one is taken as absent."""

from collections.abc import Mapping, Sequence

from protocol.json import Json, JsonObject


def text_of(value: Json) -> str:
    """A text; empty when it is none."""
    return value if isinstance(value, str) else ""


def object_of(value: Json) -> JsonObject:
    """An object; empty when it is none."""
    return value if isinstance(value, Mapping) else {}


def list_of(value: Json) -> Sequence[Json]:
    """A list; empty when it is none."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def objects_of(value: Json) -> list[JsonObject]:
    """The objects in a list; anything else in it is passed over."""
    return [one for one in list_of(value) if isinstance(one, Mapping)]


def is_number(value: object) -> bool:
    """Whether a value can be compared as a number; true and false cannot."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def whole_number_of(value: Json) -> int | None:
    """A whole number; None when it is none, as true and false are."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
