"""Lenient reading of JSON objects: a member of the wrong type is noted and left out."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from protocol.json import Json, JsonObject

_Value = TypeVar("_Value")
_MAX_NOTES = 40  # a body with more wrong fields is wrong altogether


class Notes(dict[str, None]):
    """Distinct sentences about what was dropped or changed while reading, up to a limit."""

    def add(self, sentence: str) -> None:
        """Add a sentence unless there are too many."""
        if len(self) < _MAX_NOTES:
            self[sentence] = None

    def dropped(self, path: str, *, wanted: str) -> None:
        """Note that a field has the wrong type and was left out."""
        self.add(f"`{path}` is not {wanted} and was left out.")


class Fields:
    """A JSON object whose members are read by name and type, with its path for the notes."""

    def __init__(self, raw: JsonObject, *, path: str, notes: Notes) -> None:
        self.raw = raw
        self.path = path
        self.notes = notes

    def at(self, name: str) -> str:
        """Return the path of a member."""
        return f"{self.path}.{name}" if self.path else name

    def text(self, name: str) -> str:
        """Return a text, or an empty one."""
        return self._read_member(name, str, "", wanted="text")

    def optional_text(self, name: str) -> str | None:
        """Return a text that is not empty, or None."""
        return self.text(name) or None

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return a boolean, or `default`."""
        return self._read_member(name, bool, default, wanted="true or false")

    def object(self, name: str) -> JsonObject:
        """Return an object, or an empty one."""
        return self._read_member(name, Mapping, cast(JsonObject, {}), wanted="an object")

    def list(self, name: str) -> Sequence[Json]:
        """Return a list, or an empty one."""
        return self._read_member(name, (list, tuple), cast(Sequence[Json], ()), wanted="a list")

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the texts of a list; other elements are noted and left out."""
        return tuple(cast(str, one) for _, one in self._elements(name, str, wanted="text"))

    def objects(self, name: str) -> "Iterator[Fields]":
        """Yield the objects of a list; other elements are noted and left out."""
        for path, one in self._elements(name, Mapping, wanted="an object"):
            yield Fields(cast(JsonObject, one), path=path, notes=self.notes)

    def _elements(self, name: str, kind: type[Any], *, wanted: str) -> Iterator[tuple[str, Json]]:
        for index, value in enumerate(self.list(name)):
            path = f"{self.at(name)}[{index}]"
            if isinstance(value, kind):
                yield path, value
            else:
                self.notes.dropped(path, wanted=wanted)

    def _read_member(
        self, name: str, kind: type[Any] | tuple[type[Any], ...], default: _Value, *, wanted: str
    ) -> _Value:
        value: Any = self.raw.get(name)
        if isinstance(value, kind):
            return cast(_Value, value)
        if value is not None:
            self.notes.dropped(self.at(name), wanted=wanted)
        return default
