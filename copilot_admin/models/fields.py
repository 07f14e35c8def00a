"""Fields of our models that Django does not have."""

from collections.abc import Mapping
import json
from typing import TYPE_CHECKING, Any, cast

from django.db import OperationalError, models
from django.db.models.expressions import Col

from protocol.json import Json

if TYPE_CHECKING:  # what is set and what is read: any JSON
    _Field = models.Field[Any, Any]
    _Json = models.JSONField[Any, Any]
    _JsonText = models.TextField[Any, Any]
else:
    _Field, _Json, _JsonText = object, models.JSONField, models.TextField


class _OfOneShape(_Field):
    """What a column with an empty list or object for a default gives back: a list, or an object."""

    def __init__(self, *args: Any, shape: type = object, **kwargs: Any) -> None:
        """A field; `shape` is for one without a default."""
        super().__init__(*args, **kwargs)
        self._shape = type(self.get_default()) if self.has_default() else shape

    def _of_its_shape(self, value: Json, expression: object) -> Json:
        """A value as it is read; of another expression than the column nothing is known.

        Raises:
            OperationalError: It has another shape than any that was written.
        """
        if isinstance(expression, Col) and not isinstance(value, self._shape):
            raise _other_than_written()
        return value


class JsonField(_OfOneShape, _Json):
    """Django's own, whose values have the shape of its default."""

    def deconstruct(self) -> Any:
        """Its place in migrations, where it is Django's: the column is the same."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Json:
        """The value that was written; None where there is no row.

        Raises:
            OperationalError: It is no JSON any more, or another one.
        """
        try:
            read = super().from_db_value(value, expression, connection)
        except ValueError as error:
            raise _other_than_written() from error
        return None if value is None else self._of_its_shape(read, expression)


class OrderedJsonField(_OfOneShape, _JsonText):
    """JSON that comes back as it was written: a table keeps the order of its columns.

    PostgreSQL's `jsonb`, which `JSONField` uses, sorts the keys of objects. Nothing can be looked
    up inside of this field.
    """

    def get_prep_value(self, value: Any) -> str | None:
        """The text that is stored; None stays None."""
        return None if value is None else json.dumps(value, default=_plain)

    def to_python(self, value: Any) -> Any:
        """The value of a form, which is JSON already and no text."""
        return value

    def from_db_value(self, value: str | None, expression: object, *_: object) -> Json:
        """The value that was written; None where there is none.

        Raises:
            OperationalError: It is no JSON any more, or another one.
        """
        if value is None:
            return None
        try:
            read = cast(Json, json.loads(value))
        except ValueError as error:
            raise _other_than_written() from error
        return self._of_its_shape(read, expression)


def _other_than_written() -> OperationalError:
    return OperationalError("the database gives something else than was written")


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON")
