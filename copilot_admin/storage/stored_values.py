"""How the values of a model's fields reach the database."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeAlias
from uuid import UUID

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    BinaryField,
    BooleanField,
    CharField,
    DateTimeField,
    Field,
    IntegerField,
    JSONField,
    TextChoices,
    TextField,
    UUIDField,
)

AnyField: TypeAlias = "Field[Any, Any]"
# What makes of a model's value that of the database, and the type whose values are both.
Store: TypeAlias = tuple[Callable[..., Any], type | None]

_FIELDS = Field.__module__  # and the modules in it: JSON has one of its own
_STORING = ("get_db_prep_save", "get_db_prep_value", "get_prep_value")
_PLAIN: Mapping[type[AnyField], type] = {BooleanField: bool, BinaryField: bytes}


def store_of(field: AnyField, database: BaseDatabaseWrapper) -> Store:
    """How a field's values are stored.

    Django looks at each of them in a handful of calls, to find that most are what the driver takes
    anyway. PostgreSQL is told the size of each number, so there only Django knows.
    """
    target = field
    while target.is_relation:
        target = target.target_field  # type: ignore[attr-defined]  # of a foreign key
    prepare: Callable[..., Any] = field.get_db_prep_save
    plain: type | None = None
    if _stores_as_django(target):  # a field of ours may change what it is given
        match target:
            case CharField() | TextField():
                plain = str
                if database.vendor == "sqlite":
                    prepare = _text_for(field)
            case BooleanField() | BinaryField():
                plain = _PLAIN[type(target)]
            case IntegerField() if database.vendor == "sqlite":
                plain = int
            case DateTimeField() if database.vendor == "sqlite" and database.timezone is UTC:
                prepare = _time_for(field)
            case JSONField() if database.vendor == "sqlite":
                prepare = _json_for(field)
            case UUIDField() if database.vendor == "sqlite":
                prepare = _uuid_for(field)
            case _:
                pass
    return prepare, plain


def _stores_as_django(field: AnyField) -> bool:
    """Whether a field is one of Django's, or makes of values what Django's does."""
    kind = type(field)
    django = next(base for base in kind.__mro__ if base.__module__.startswith(_FIELDS))
    return all(getattr(kind, name) is getattr(django, name) for name in _STORING)


def _text_for(field: AnyField) -> Callable[..., Any]:
    """How SQLite stores a text, also one of a closed set: the driver knows only plain ones at once."""

    def stored(value: object, database: BaseDatabaseWrapper) -> object:
        if isinstance(value, StrEnum | TextChoices):
            return value.value
        return field.get_db_prep_save(value, database)

    return stored


def _time_for(field: AnyField) -> Callable[..., Any]:
    """How SQLite stores a time: as text, in UTC."""

    def stored(value: object, database: BaseDatabaseWrapper) -> object:
        if type(value) is datetime and value.tzinfo is UTC:
            return value.isoformat(" ").removesuffix("+00:00")
        return field.get_db_prep_save(value, database)

    return stored


def read_by(
    convert: Callable[..., Any], database: BaseDatabaseWrapper
) -> Callable[[Any, Any, BaseDatabaseWrapper], Any]:
    """What makes a value of the model of that which the database gives, as one of Django's would.

    Of a time Django asks in ten calls what it is; SQLite's are in UTC, and written by us.
    """
    if convert != getattr(database.ops, "convert_datetimefield_value", None):
        return convert
    if not settings.USE_TZ or database.timezone is not UTC:
        return convert

    def read(value: object, expression: object, database: BaseDatabaseWrapper) -> object:
        if type(value) is str:
            with suppress(ValueError):
                at = datetime.fromisoformat(value)
                return at if at.tzinfo else at.replace(tzinfo=UTC)
        return convert(value, expression, database)

    return read


def _json_for(field: AnyField) -> Callable[..., Any]:
    """How SQLite stores JSON: as text; most of what the journal has of it is empty."""
    empty: Mapping[type, str] = {list: "[]", dict: "{}"}

    def stored(value: object, database: BaseDatabaseWrapper) -> object:
        return (not value and empty.get(type(value))) or field.get_db_prep_save(value, database)

    return stored


def _uuid_for(field: AnyField) -> Callable[..., Any]:
    """How SQLite stores an id: as text, without its dashes."""

    def stored(value: object, database: BaseDatabaseWrapper) -> object:
        return value.hex if type(value) is UUID else field.get_db_prep_save(value, database)

    return stored
