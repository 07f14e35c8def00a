"""Seals secrets anew under the newest key, a few rows at a time; goes on where it stopped.

Which rows are left stands in the rows: a sealed text begins with the name of its key.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Model, QuerySet

from copilot_admin.config.encryption import current_key_id, decrypt, encrypt, key_id_of
from copilot_admin.copilots.sealed_columns import SEALED_COLUMNS, SealedColumn
from copilot_admin.errors import ConfigurationError

BATCH = 100  # rows of one transaction: to open and seal one takes some microseconds


@dataclass(slots=True)
class Resealing:
    """What a rotation did.

    Attributes:
        sealed: How many texts were sealed anew.
        in_use: How many texts each key seals now.
        stuck: What does not open, and so stays as it is.
    """

    sealed: int = 0
    in_use: Counter[str] = field(default_factory=Counter)
    stuck: list[str] = field(default_factory=list)


def reseal_all() -> Resealing:
    """Seals everything anew that an older key sealed."""
    done = Resealing()
    for column in SEALED_COLUMNS:
        for batch in _batches(column):
            with transaction.atomic():
                for row, sealed in batch:
                    _reseal(column, row, sealed, done)
        texts = _filled(column).values_list(column.column, flat=True)
        done.in_use.update(map(key_id_of, texts))
    return done


def _batches(column: SealedColumn) -> Iterator[list[tuple[object, str]]]:
    """The rows that an older key sealed, in the order of their ids."""
    old = _filled(column).exclude(**{f"{column.column}__startswith": f"{current_key_id()}:"})
    rows = old.order_by("pk").values_list("pk", column.column)
    batch = list(rows[:BATCH])
    while batch:
        yield batch
        batch = list(rows.filter(pk__gt=batch[-1][0])[:BATCH])


def _reseal(column: SealedColumn, row: object, sealed: str, done: Resealing) -> None:
    """Changes a row that still is as it was read: a new secret of the meantime is not overwritten."""
    place = column.place(row)
    try:
        anew = encrypt(decrypt(sealed, location=place), location=place)
    except ConfigurationError as error:
        done.stuck.append(f"{column.words} ({column.model} {row}): {error.public}")
        return
    unchanged = column.rows._default_manager.filter(**{"pk": row, column.column: sealed})
    done.sealed += unchanged.update(**{column.column: anew})


def _filled(column: SealedColumn) -> QuerySet[Model]:
    return column.rows._default_manager.exclude(**{column.column: ""})
