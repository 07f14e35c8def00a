"""Fields of our models that Django does not have."""

from collections.abc import Mapping
import json
from typing import TYPE_CHECKING, Any, cast

from django.db import OperationalError, models

from protocol.json import Json

if TYPE_CHECKING:
    _JsonText = models.TextField[Any, Any]  # what is set and what is read: any JSON
else:
    _JsonText = models.TextField


class OrderedJsonField(_JsonText):
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

    def from_db_value(self, value: str | None, *_: object) -> Json:
        """The value that was written.

        Raises:
            OperationalError: It is no JSON any more.
        """
        try:
            return None if value is None else cast(Json, json.loads(value))
        except ValueError as error:
            raise OperationalError("the database gives something else than was written") from error


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON")
