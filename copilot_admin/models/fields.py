"""A field, short forms of indexes and constraints, and a base of models."""

from collections.abc import Mapping
import json
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Q

if TYPE_CHECKING:  # the values set and read are any JSON
    _TextField = models.TextField[Any, Any]
else:
    _TextField = models.TextField


MAX_INTEGER, MAX_ID = 2**31 - 1, 2**63 - 1  # of a column


def parse_integer(text: str, most: int = MAX_INTEGER) -> int | None:
    """Return the number in a URL or form; None for other text, or if it is too large."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= 19
    return int(text) if is_number and int(text) <= most else None


class OrderedJsonField(_TextField):
    """JSON stored as text, so that objects keep the order of their keys.

    PostgreSQL's `jsonb`, which `JSONField` uses, sorts the keys. Queries can't look into this field.
    """

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else json.dumps(value, default=_to_json)

    def to_python(self, value: Any) -> Any:
        return value

    def from_db_value(self, value: str | None, *_: object) -> Any:
        return None if value is None else json.loads(value)


def index(name: str, fields: str, condition: Q | None = None) -> models.Index:
    return models.Index(fields=fields.split(), name=name, condition=condition)


def unique(name: str, fields: str, condition: Q | None = None) -> models.UniqueConstraint:
    return models.UniqueConstraint(fields=fields.split(), name=name, condition=condition)


class Record(models.Model):
    """A row that pages never name."""

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self._meta.object_name} {self.pk}"


def _to_json(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
