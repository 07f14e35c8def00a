"""Fields of stored payloads, which may be of any shape: what does not fit is taken as absent."""

from collections.abc import Mapping, Sequence

from protocol.json import Json, JsonObject


def text_in(data: JsonObject, key: str) -> str:
    """Reads a text out of a stored value; empty if it is no text."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def number_in(data: JsonObject, key: str) -> int:
    """Reads a whole number out of a stored value; zero if it is none."""
    value = data.get(key)
    return value if isinstance(value, int) else 0


def object_in(data: JsonObject, key: str) -> JsonObject:
    """Reads an object out of a stored value; empty if it is none."""
    return as_object(data.get(key))


def list_in(data: JsonObject, key: str) -> Sequence[Json]:
    """Reads a list out of a stored value; empty if it is none."""
    value = data.get(key)
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def objects_in(data: JsonObject, key: str) -> list[JsonObject]:
    """Reads the objects in a stored list; anything else in it is passed over."""
    return [value for value in list_in(data, key) if isinstance(value, Mapping)]


def as_object(value: Json) -> JsonObject:
    """The value when it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}
