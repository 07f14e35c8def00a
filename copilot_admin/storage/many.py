"""SQL statements about many rows at once: a history is stored, what nobody needs is deleted."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, TypeVar

from django.db import OperationalError, connection
from django.db.models import AutoField, Model, QuerySet

from copilot_admin.storage.statements import Row
from copilot_admin.storage.stored_values import AnyField

T = TypeVar("T")
M = TypeVar("M", bound=Model)
ROWS = 500  # of one statement; with 20 columns 10,000 parameters, and SQLite takes 32,766


class InsertMany:
    """Inserts rows that differ in some columns only.

    The ORM's `bulk_create` builds an object and converts each value of each row. PostgreSQL gets
    the rows one by one in a COPY: a statement that has them all is in memory five times until it is
    answered, and its longest copy for as long as the connection lives.
    """

    def __init__(self, model: type[Model], *, varying: Sequence[str]) -> None:
        """Prepares the statement; `varying` are the columns in which the rows differ."""
        fields: dict[str, AnyField] = {
            field.attname: field for field in model._meta.concrete_fields
        }
        self._table = model._meta.db_table
        self._varying = [fields[name] for name in varying]
        self._others = [
            field
            for name, field in fields.items()
            if name not in varying and not isinstance(field, AutoField)
        ]

    def __call__(self, rows: Sequence[Row], **same: object) -> None:
        """Inserts rows.

        Args:
            rows: Values of the columns that vary, in their order: numbers, texts or None, which
                databases take as they are.
            same: What the other columns have in every row; without a value the field's default.

        Raises:
            IntegrityError: A row breaks a constraint.
        """
        if not rows:
            return
        others = [
            field.get_db_prep_save(same.get(field.attname, field.get_default()), connection)
            for field in self._others
        ]
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                self._copy(cursor.cursor, rows, others)
                return
            for some in in_batches(rows, ROWS):
                values = [value for row in some for value in (*row, *others)]
                cursor.execute(self._from_values(len(some)), values)

    def _copy(self, cursor: Any, rows: Sequence[Row], others: Sequence[object]) -> None:
        """Sends rows to PostgreSQL, of which no more than a megabyte waits to be taken."""
        copying = f"COPY {self._into()} FROM STDIN"
        with connection.wrap_database_errors, cursor.copy(copying) as copy:
            for row in rows:
                copy.write_row((*row, *others))

    def _from_values(self, number: int) -> str:
        places = f"({_places(len(self._varying) + len(self._others))})"
        return f"INSERT INTO {self._into()} VALUES {', '.join([places] * number)}"  # noqa: S608  # names of the models

    def _into(self) -> str:
        quote = connection.ops.quote_name
        names = (quote(str(field.column)) for field in (*self._varying, *self._others))
        return f"{quote(self._table)} ({', '.join(names)})"


def reserve_ids(model: type[Model], number: int) -> list[int]:
    """Ids for rows to come, so that one may refer to another before either is there.

    On SQLite nobody else may insert before the commit: the transaction is one that writes.
    """
    table, key = model._meta.db_table, model._meta.pk
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
            row = cursor.fetchone()
            last = int(row[0]) if row else 0
            return list(range(last + 1, last + 1 + number))
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)",
            [table, key.column, number],
        )
        return [int(row[0]) for row in cursor.fetchall()]


def delete_rows(field: AnyField, values: Collection[object]) -> int:
    """Deletes the rows in which a column has one of some values; nothing may refer to them.

    Returns:
        Rows that were deleted.
    """
    if not values:
        return 0
    quote = connection.ops.quote_name
    stored = [field.get_db_prep_save(value, connection) for value in values]
    table, column = quote(field.model._meta.db_table), quote(str(field.column))
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table} WHERE {column} IN ({_places(len(stored))})", stored)  # noqa: S608  # names of the models
        return int(cursor.rowcount)


def by_key(rows: QuerySet[M], *, size: int = ROWS) -> Iterator[M]:
    """Rows in the order of their keys, of which a few are in memory at a time.

    Args:
        rows: Without an order of their own.
        size: How many are read at once.

    Raises:
        OperationalError: The keys are in no order, so that there might be no end.
    """
    ordered, last = rows.order_by("pk"), None
    is_more = True
    while is_more:
        some = list((ordered if last is None else ordered.filter(pk__gt=last))[:size])
        is_more = len(some) == size
        for row in some:
            if last is not None and row.pk <= last:
                raise OperationalError("the rows of the database came in another order")
            last = row.pk
            yield row


def in_batches(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Values in pieces of a size; the last may be smaller."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _places(number: int) -> str:
    return ", ".join(["%s"] * number)
