"""SQL statements of one fixed form, built once for each kind of database.

The ORM builds a statement anew at every call: some 0.5 ms of CPU to read one row of SQLite, where
the database takes 0.006 and a statement of this module 0.03. So the journal, which writes for every question, says here
once what a statement looks like. Tables, columns, defaults and conversions stay the models'.

Columns go by their attribute names (`conversation_id`, not `conversation`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter, methodcaller
import sqlite3
import threading
from typing import Any, TypeAlias

from django.db import DEFAULT_DB_ALIAS, OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import AutoField, Model, TextField

from copilot_admin.storage.large_values import LARGE, as_bytes, execute_large
from copilot_admin.storage.refused_texts import NOBODY_ELSE, refuse_nul
from copilot_admin.storage.stored_values import AnyField, Store, store_of

Row: TypeAlias = tuple[Any, ...]

ONE_ROW = methodcaller("fetchone")
ALL_ROWS = methodcaller("fetchall")
FOUND = attrgetter("rowcount")


class _Here(threading.local):
    """What a thread has looked up; of Django's connections each has its own, for as long as it lives."""

    database: BaseDatabaseWrapper | None = None


_here = _Here()


def database_here() -> BaseDatabaseWrapper:
    """This thread's database.

    Django finds it by an error that it raises and catches, `django.db.connection` at each of its
    attributes: a twelfth of what the journal did for a question.
    """
    if _here.database is None:
        _here.database = connections[DEFAULT_DB_ALIAS]
    return _here.database


class Statement(ABC):
    """A statement about one table; knows its SQL for each vendor it was needed for."""

    def __init__(self, model: type[Model]) -> None:
        self._model = model
        self._fields: Mapping[str, AnyField] = {
            field.attname: field for field in model._meta.concrete_fields
        }
        self._sql: dict[str, str] = {}
        self._own_sql = ""  # the same as SQLite itself reads it
        self._stores: dict[str, dict[str, Store]] = {}

    def _ready(self, database: BaseDatabaseWrapper) -> None:
        if database.vendor in self._sql:
            return
        stores = {name: store_of(field, database) for name, field in self._fields.items()}
        self._stores[database.vendor] = stores
        sql = self._build(database)
        if database.vendor == "sqlite":
            self._own_sql = sql.replace("%s", "?")
        self._sql[database.vendor] = sql  # last: another thread may look

    @abstractmethod
    def _build(self, database: BaseDatabaseWrapper) -> str: ...

    def _execute(
        self, database: BaseDatabaseWrapper, values: Sequence[Any], take: Callable[[Any], Any]
    ) -> Any:
        """Executes it, and takes of the cursor what is wanted.

        Django's cursors cost more than what SQLite does for a row: 20 calls that look whether there
        is anything to do. Where there is (no connection yet, a transaction that broke, somebody who
        listens), they are asked.
        """
        raw = database.connection
        if (
            isinstance(raw, sqlite3.Connection)
            and not database.needs_rollback
            and tuple(database.execute_wrappers) == NOBODY_ELSE
            and not database.force_debug_cursor
        ):
            refuse_nul(values)
            with database.wrap_database_errors:
                return take(raw.cursor().execute(self._own_sql, values))
        with database.cursor() as cursor:
            cursor.execute(self._sql[database.vendor], values)
            return take(cursor)

    def _execute_large(
        self, database: BaseDatabaseWrapper, values: Sequence[Any], take: Callable[[Any], Any]
    ) -> Any:
        """Executes it with a value of megabytes."""
        if database.vendor == "postgresql":
            return execute_large(database, self._sql[database.vendor], values, take)
        refuse_nul(values)
        return self._execute(database, [as_bytes(value) for value in values], take)

    def _table(self, database: BaseDatabaseWrapper) -> str:
        return str(database.ops.quote_name(self._model._meta.db_table))

    def _column(self, name: str, database: BaseDatabaseWrapper) -> str:
        return str(database.ops.quote_name(str(self._fields[name].column)))

    def _columns(self, names: Iterable[str], database: BaseDatabaseWrapper) -> str:
        return ", ".join(self._column(name, database) for name in names)

    def _where(self, names: Iterable[str], database: BaseDatabaseWrapper) -> str:
        return " AND ".join(f"{self._column(name, database)} = %s" for name in names)

    def _stored(
        self, names: Iterable[str], values: Mapping[str, object], database: BaseDatabaseWrapper
    ) -> list[Any]:
        """Values as the database takes them, in the order of the names."""
        stores = self._stores[database.vendor]
        stored = []
        for name in names:
            value = values[name]
            prepare, plain = stores[name]
            if value is not None and type(value) is not plain:
                value = prepare(value, database)
            stored.append(value)
        return stored


class Insert(Statement):
    """Inserts a row; what is not given takes the default of its field."""

    def __init__(
        self,
        model: type[Model],
        *,
        returning: Sequence[str] = (),
        or_ignore: bool = False,
        or_existing: Sequence[str] = (),
        large: str = "",
    ) -> None:
        """Prepares the statement.

        Args:
            model: Whose table.
            returning: Columns of the row to return, numbers or text.
            or_ignore: A row that breaks a unique constraint is not inserted, and none returned.
            or_existing: Columns of a unique constraint; the row that has them already is returned.
            large: A column whose value may have megabytes.
        """
        super().__init__(model)
        self._returning = returning
        self._or_ignore = or_ignore
        self._or_existing = or_existing
        self._large = large
        self._names = [
            name for name, field in self._fields.items() if not isinstance(field, AutoField)
        ]
        self._take = ONE_ROW if returning else _nothing
        self._defaults: dict[str, dict[str, object]] = {}

    def __call__(self, **values: object) -> Row | None:
        """Inserts a row.

        Returns:
            The columns asked for; None when none were, or when nothing was inserted.

        Raises:
            IntegrityError: The row breaks a constraint.
            OperationalError: What was asked for did not come back.
            TypeError: A value has the name of no column.
        """
        database = database_here()
        self._ready(database)
        row: dict[str, Any] = self._defaults[database.vendor].copy()
        if not values.keys() <= row.keys():
            raise TypeError(f"No columns: {', '.join(sorted(values.keys() - row.keys()))}")
        row.update(zip(values, self._stored(values, values, database), strict=True))
        is_large = bool(self._large) and len(row[self._large]) > LARGE
        execute = self._execute_large if is_large else self._execute
        inserted: Row | None = execute(database, list(row.values()), self._take)
        if self._returning and (None in inserted if inserted else not self._or_ignore):
            raise OperationalError("what was inserted did not come back")
        return inserted

    def _build(self, database: BaseDatabaseWrapper) -> str:
        self._defaults[database.vendor] = {
            name: self._fields[name].get_db_prep_save(self._fields[name].get_default(), database)
            for name in self._names
        }
        columns = self._columns(self._names, database)
        places = ", ".join(self._place(name, database) for name in self._names)
        parts = ["INSERT INTO", self._table(database), f"({columns})", f"VALUES ({places})"]
        if self._or_ignore:
            parts.append("ON CONFLICT DO NOTHING")
        if self._or_existing:
            unique = [self._column(name, database) for name in self._or_existing]
            parts.append(f"ON CONFLICT ({', '.join(unique)})")
            parts.append(f"DO UPDATE SET {self._unchanged(database)}")
        if self._returning:
            parts += ["RETURNING", self._columns(self._returning, database)]
        return " ".join(parts)

    def _place(self, name: str, database: BaseDatabaseWrapper) -> str:
        """The place of a value; SQLite is given a large text as bytes, and told that it is one."""
        is_bytes = database.vendor == "sqlite" and name == self._large
        if is_bytes and isinstance(self._fields[name], TextField):
            return "CAST(%s AS TEXT)"
        return "%s"

    def _unchanged(self, database: BaseDatabaseWrapper) -> str:
        """Sets a column to what it is, which makes both databases return the row.

        PostgreSQL locks a row for more where a column changes that others may refer to: whoever
        refers to it would wait for the commit.
        """
        unique = {name for one in self._model._meta.total_unique_constraints for name in one.fields}
        plain = next(
            name
            for name, field in self._fields.items()
            if not field.unique and field.name not in unique
        )
        column = self._column(plain, database)
        return f"{column} = {self._table(database)}.{column}"


class Update(Statement):
    """Updates the rows that have certain values."""

    def __init__(
        self,
        model: type[Model],
        *,
        where: Sequence[str],
        set: Sequence[str] = (),
        add: Sequence[str] = (),
        either: Sequence[str] = (),
        append: Mapping[str, int] | None = None,
    ) -> None:
        """Prepares the statement.

        Args:
            model: Whose table.
            where: Columns that are compared; no value may be None.
            set: Columns that become the value.
            add: Columns to which the value is added.
            either: Columns that are true if they, or the value, are true.
            append: Columns of text to whose end the value goes, and the characters they may have.
        """
        super().__init__(model)
        self._where_names, self._set, self._add, self._either = where, set, add, either
        self._append = append or {}
        self._order = (*set, *add, *either, *self._append, *where)

    def __call__(self, **values: object) -> int:
        """Updates; every column of the statement needs its value.

        Returns:
            Rows that were found.
        """
        database = database_here()
        self._ready(database)
        return int(self._execute(database, self._stored(self._order, values, database), FOUND))

    def _build(self, database: BaseDatabaseWrapper) -> str:
        def each(names: Iterable[str], form: str) -> list[str]:
            return [form.format(self._column(name, database)) for name in names]

        changes = [
            *each(self._set, "{0} = %s"),
            *each(self._add, "{0} = {0} + %s"),
            *each(self._either, "{0} = ({0} OR %s)"),
            *(
                f"{column} = SUBSTR({column} || %s, 1, {most})"
                for name, most in self._append.items()
                for column in (self._column(name, database),)
            ),
        ]
        where = self._where(self._where_names, database)
        return " ".join(
            ("UPDATE", self._table(database), "SET", ", ".join(changes), "WHERE", where)
        )


class Delete(Statement):
    """Deletes the rows that have certain values; nothing may refer to them."""

    def __init__(self, model: type[Model], *, where: Sequence[str]) -> None:
        """Prepares the statement; `where` are columns that are compared."""
        super().__init__(model)
        self._where_names = where

    def __call__(self, **values: object) -> int:
        """Deletes the rows that match.

        Returns:
            Rows that were found.
        """
        database = database_here()
        self._ready(database)
        given = self._stored(self._where_names, values, database)
        return int(self._execute(database, given, FOUND))

    def _build(self, database: BaseDatabaseWrapper) -> str:
        where = self._where(self._where_names, database)
        return " ".join(("DELETE FROM", self._table(database), "WHERE", where))


def _nothing(_cursor: object) -> None:
    """Takes nothing of a cursor."""
