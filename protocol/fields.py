"""Values of an untrusted JSON document, read by type, with notes on those that don't fit."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from protocol.json import Json, JsonObject, list_of, object_of

_MAX_NOTES = 40  # a body with more wrong fields is wrong altogether
_Value = TypeVar("_Value")


class Notes(dict[str, None]):
    """Distinct sentences about what was dropped or changed while reading, up to a limit."""

    def add(self, sentence: str) -> None:
        """Add a sentence unless there are too many."""
        if len(self) < _MAX_NOTES:
            self[sentence] = None


class Field:
    """A value and its path for the notes; a member of the wrong type is noted and left out."""

    __slots__ = ("members", "notes", "path", "value")

    def __init__(self, value: Any, *, notes: Notes, path: str = "") -> None:
        self.value = value  # untrusted JSON
        self.members = object_of(value)
        self.notes = notes
        self.path = path

    def member(self, name: str) -> "Field":
        """Return a member of an object; a missing one is null."""
        path = f"{self.path}.{name}" if self.path else name
        return Field(self.members.get(name), notes=self.notes, path=path)

    def elements(self) -> "Iterator[Field]":
        """Yield the elements of a list; anything else is noted."""
        if not isinstance(self.value, list | tuple | None):
            self.drop("a list")
        for index, one in enumerate(list_of(self.value)):
            yield Field(one, notes=self.notes, path=f"{self.path}[{index}]")

    def drop(self, wanted: str) -> None:
        """Note that the value is not what was wanted, and was left out."""
        self.notes.add(f"`{self.path}` is not {wanted} and was left out.")

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
        """Return the texts of a list."""
        return tuple(one.value for one in self._elements(name, str, wanted="text"))

    def objects(self, name: str) -> "Iterator[Field]":
        """Yield the objects of a list."""
        return self._elements(name, Mapping, wanted="an object")

    def _elements(self, name: str, kind: type[Any], *, wanted: str) -> "Iterator[Field]":
        for one in self.member(name).elements():
            if isinstance(one.value, kind):
                yield one
            else:
                one.drop(wanted)

    def _read_member(
        self, name: str, kind: type[Any] | tuple[type[Any], ...], default: _Value, *, wanted: str
    ) -> _Value:
        value: Any = self.members.get(name)
        if isinstance(value, kind):
            return cast(_Value, value)
        if value is not None:
            self.member(name).drop(wanted)
        return default
