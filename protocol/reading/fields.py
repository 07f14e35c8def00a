"""Take one field out of a JSON object: what has the wrong type is noted and left out."""

from collections.abc import Iterator, Mapping, Sequence
import json

from protocol.json import Json, JsonObject
from protocol.reading.notes import Notes

_AT_ONCE = 1000  # elements of a list that are written by one call


class Fields:
    """A JSON object whose members are read by name and type, with its place for the notes."""

    def __init__(self, raw: JsonObject, *, path: str, notes: Notes) -> None:
        self.raw = raw
        self.path = path
        self.notes = notes

    def at(self, name: str) -> str:
        """The path of a member, for a sentence about it."""
        return f"{self.path}.{name}" if self.path else name

    def text(self, name: str, default: str = "") -> str:
        """A text; `default` when it is missing, null or no text."""
        value = self.raw.get(name)
        if isinstance(value, str):
            return value
        if value is not None:
            self.notes.dropped(self.at(name), wanted="text")
        return default

    def optional_text(self, name: str) -> str | None:
        """A text that is not empty, or None."""
        return self.text(name) or None

    def flag(self, name: str, *, default: bool = False) -> bool:
        """A boolean; `default` when it is missing, null or no boolean."""
        value = self.raw.get(name)
        if isinstance(value, bool):
            return value
        if value is not None:
            self.notes.dropped(self.at(name), wanted="true or false")
        return default

    def object(self, name: str) -> JsonObject:
        """An object; empty when it is missing, null or no object."""
        value = self.raw.get(name)
        if isinstance(value, Mapping):
            return value
        if value is not None:
            self.notes.dropped(self.at(name), wanted="an object")
        return {}

    def list(self, name: str) -> tuple[Json, ...]:
        """The elements of a list; none when it is missing, null or no list."""
        value = self.raw.get(name)
        if isinstance(value, list | tuple):
            return tuple(value)
        if value is not None:
            self.notes.dropped(self.at(name), wanted="a list")
        return ()

    def texts(self, name: str) -> tuple[str, ...]:
        """The texts of a list; other elements are noted and left out."""
        kept = []
        for index, value in enumerate(self.list(name)):
            if isinstance(value, str):
                kept.append(value)
            else:
                self.notes.dropped(f"{self.at(name)}[{index}]", wanted="text")
        return tuple(kept)

    def objects(self, name: str) -> "Iterator[Fields]":
        """The objects of a list; other elements are noted and left out."""
        for index, value in enumerate(self.list(name)):
            path = f"{self.at(name)}[{index}]"
            if isinstance(value, Mapping):
                yield Fields(value, path=path, notes=self.notes)
            else:
                self.notes.dropped(path, wanted="an object")


def as_text(value: Json) -> str:
    """A text as it is, any other JSON value as compact JSON."""
    return value if isinstance(value, str) else "".join(_json_parts(value))


def _json_parts(value: Json) -> Iterator[str]:
    """Compact JSON in parts: written by one call, a list of millions would hold up all threads."""
    if not isinstance(value, list) or not _is_long(value):
        yield json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return
    for start in range(0, len(value), _AT_ONCE):
        yield "," if start else "["
        some = value[start : start + _AT_ONCE]
        if any(isinstance(one, list) and len(one) > _AT_ONCE for one in some):
            yield ",".join("".join(_json_parts(one)) for one in some)
        else:
            yield json.dumps(some, ensure_ascii=False, separators=(",", ":"))[1:-1]
    yield "]"


def _is_long(value: Sequence[Json]) -> bool:
    if len(value) > _AT_ONCE:
        return True
    return any(isinstance(one, list) and len(one) > _AT_ONCE for one in value)
