"""Plain SQL for the statements that every question executes; everything else uses the ORM.

The ORM builds a statement at each call: 0.2 to 0.6 ms of CPU where a constant takes 0.05. A constant
stands next to the code that executes it, has named parameters, and runs on SQLite and PostgreSQL alike.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from enum import Enum
from typing import Any, TypeAlias, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Field

Row: TypeAlias = dict[str, Any]  # by column
T = TypeVar("T")


def execute(sql: str, **values: Any) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, {name: _to_db(value) for name, value in values.items()})
        return int(cursor.rowcount)


def fetch_row(sql: str, *, lock: str = "", **values: Any) -> Row | None:
    """Return the first row of a statement, or None.

    The row of the table `lock` stays locked until the commit. SQLite has one writer and needs no lock.
    """
    if lock and connection.features.has_select_for_update:
        sql = f"{sql} FOR NO KEY UPDATE OF {lock}"
    with connection.cursor() as cursor:
        cursor.execute(sql, {name: _to_db(value) for name, value in values.items()})
        row = cursor.fetchone()
        return row and dict(zip((column[0] for column in cursor.description), row, strict=True))


def _to_db(value: Any) -> Any:
    if type(value) in (str, int):
        return value
    match value:
        case Enum():
            return value.value
        case datetime():
            return connection.ops.adapt_datetimefield_value(value)
        case UUID() if not connection.features.has_native_uuid_field:
            return value.hex
        case dict() | list():
            return connection.ops.adapt_json_value(value, None)
    return value


def read_time(value: datetime | None) -> datetime | None:
    """Return a time column as an aware datetime; SQLite stores UTC without saying so."""
    return value if value is None or value.tzinfo else value.replace(tzinfo=UTC)


def delete_rows(field: "Field[Any, Any]", values: Collection[object]) -> int:
    """Delete the rows whose column has one of some values; return their number.

    Unlike the ORM's `delete`, it doesn't look for rows that refer to them.
    """
    rows = field.model._base_manager.filter(**{f"{field.name}__in": values})
    return rows._raw_delete(DEFAULT_DB_ALIAS) or 0


def placeholders(number: int) -> str:
    return ", ".join(["%s"] * number)


def in_batches(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
