"""What all tables of ours have in common: a row is whole, or the database is to blame."""

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, Self

from django.db import OperationalError, models


class StoredRow(models.Model):
    """A row that is empty nowhere where its table never is: what lies between may garble one."""

    class Meta:
        abstract = True

    @classmethod
    def from_db(
        cls, db: str | None, field_names: Collection[str], values: Collection[Any], **more: Any
    ) -> Self:
        """The row that was read.

        Raises:
            OperationalError: It lacks what its table always has.
        """
        if None in values and not _may_be_empty(cls).issuperset(_empty(field_names, values)):
            raise OperationalError("a row of the database lacks what it has")
        return super().from_db(db, field_names, values, **more)


def _empty(names: Collection[str], values: Collection[Any]) -> Sequence[str]:
    return [name for name, value in zip(names, values, strict=True) if value is None]


@cache
def _may_be_empty(model: type[models.Model]) -> frozenset[str]:
    """The columns of a model that may have None; they are no more after the models are loaded."""
    return frozenset(field.attname for field in model._meta.concrete_fields if field.null)
