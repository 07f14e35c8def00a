"""Fields of stored payloads, which may be of any shape: what does not fit is taken as absent."""

from collections.abc import Sequence

from protocol.json import Json, JsonObject, list_of, object_of, objects_of, text_of


def text_in(data: JsonObject, key: str) -> str:
    """Reads a text out of a stored value; empty if it is no text."""
    return text_of(data.get(key))


def number_in(data: JsonObject, key: str) -> int:
    """Reads a whole number out of a stored value; zero if it is none."""
    value = data.get(key)
    return value if isinstance(value, int) else 0


def object_in(data: JsonObject, key: str) -> JsonObject:
    """Reads an object out of a stored value; empty if it is none."""
    return object_of(data.get(key))


def list_in(data: JsonObject, key: str) -> Sequence[Json]:
    """Reads a list out of a stored value; empty if it is none."""
    return list_of(data.get(key))


def objects_in(data: JsonObject, key: str) -> list[JsonObject]:
    """Reads the objects in a stored list; anything else in it is passed over."""
    return objects_of(data.get(key))
