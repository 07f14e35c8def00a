"""Small immutable records that several parts of the agent share."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

from protocol.json import Json, objects_of, text_of
from protocol.models import Widget, is_upload

# How values of a type are read that is neither plain nor an enum; none of them has a default.
Readers: TypeAlias = Mapping[Any, Callable[[Json], Any]]
_Row = TypeVar("_Row")


def values_in(
    row: Mapping[str, Json], record: type[Any], *, readers: Readers, **given: Any
) -> dict[str, Any]:
    """The values of a record's fields; what the row does not have keeps the field's default.

    Args:
        row: What is read.
        record: A dataclass. A field's name is its key in the row, unless its metadata has a `key`.
        readers: For the types that need one.
        given: Values of fields that are not looked for in the row.

    Raises:
        ValueError: A value is none of the choices there are.
    """
    found = dict(given)
    for field in fields(record):
        key = field.metadata.get("key", field.name)
        if field.name not in given and (key in row or _is_required(field)):
            found[field.name] = _read(row.get(key), field, readers=readers)
    return found


def rows(value: Json, read: Callable[[Mapping[str, Json]], _Row]) -> tuple[_Row, ...]:
    """A list of records; what is no record is left out."""
    return tuple(map(read, objects_of(value)))


def _is_required(field: "Field[Any]") -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _read(value: Json, field: "Field[Any]", *, readers: Readers) -> Any:
    hint: Any = field.type
    if hint in readers:
        return readers[hint](value)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return hint(str(value))
    if hint is str:
        return text_of(value)
    return value if isinstance(value, hint) else field.default


FEATURE = "file-upload"


def is_uploaded(widget: Widget) -> bool:
    return is_upload(origin=widget.origin, id=widget.widget_id)
