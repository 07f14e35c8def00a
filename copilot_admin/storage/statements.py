"""SQL statements of one fixed form, built once for each kind of database.

The ORM builds a statement anew at every call: some 0.5 ms of CPU to read one row of SQLite, where
the database takes 0.006 and a statement of this module 0.03. So the journal, which writes for every question, says here
once what a statement looks like. Tables, columns, defaults and conversions stay the models'.

Columns go by their attribute names (`conversation_id`, not `conversation`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, methodcaller
import sqlite3
import threading
from typing import Any, TypeAlias, cast

from django.db import DEFAULT_DB_ALIAS, OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import AutoField, Model, TextField

from copilot_admin.storage.errors import execute_without_nul, reject_nul
from copilot_admin.storage.large_values import LARGE, as_bytes, execute_large
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


@dataclass(frozen=True, slots=True)
class _Form:
    """A statement as one kind of database takes it.

    Attributes:
        sql: For Django's cursors.
        own: The same as SQLite itself reads it.
        stores: Of the values that are given, in the order of the statement.
    """

    sql: str
    own: str
    stores: Sequence[Store]


class Statement(ABC):
    """A statement about one table; knows its form for each vendor it was needed for.

    Args:
        model: Whose table.
        given: Columns of which values are given, in the order of the statement.
    """

    def __init__(self, model: type[Model], given: Sequence[str]) -> None:
        self._model = model
        self._given = given
        self._fields: Mapping[str, AnyField] = {
            field.attname: field for field in model._meta.concrete_fields
        }
        self._forms: dict[str, _Form] = {}

    def _form(self, database: BaseDatabaseWrapper) -> _Form:
        return self._forms.get(database.vendor) or self._formed(database)

    def _formed(self, database: BaseDatabaseWrapper) -> _Form:
        sql = self._build(database)
        stores = [store_of(self._fields[name], database) for name in self._given]
        form = _Form(sql, _own(sql), stores)
        self._forms[database.vendor] = form  # last: another thread may look
        return form

    @abstractmethod
    def _build(self, database: BaseDatabaseWrapper) -> str: ...

    def _execute(
        self,
        database: BaseDatabaseWrapper,
        form: _Form,
        values: Sequence[Any],
        take: Callable[[Any], Any],
    ) -> Any:
        """Executes it, and takes of the cursor what is wanted.

        Django's cursors cost more than what SQLite does for a row: 20 calls that look whether there
        is anything to do. Where there is (no connection yet, a transaction that broke, somebody who
        listens), they are asked. Its errors are made Django's where there are any.
        """
        raw = database.connection
        if (
            isinstance(raw, sqlite3.Connection)
            and not database.needs_rollback
            and tuple(database.execute_wrappers) == (execute_without_nul,)
            and not database.force_debug_cursor
        ):
            try:
                return take(raw.cursor().execute(form.own, values))
            except sqlite3.Error:
                with database.wrap_database_errors:
                    raise
        with database.cursor() as cursor:
            cursor.execute(form.sql, values)
            return take(cursor)

    def _execute_large(
        self,
        database: BaseDatabaseWrapper,
        form: _Form,
        values: Sequence[Any],
        take: Callable[[Any], Any],
    ) -> Any:
        """Executes it with a value of megabytes."""
        if database.vendor == "postgresql":
            return execute_large(database, form.sql, values, take)
        return self._execute(database, form, [as_bytes(value) for value in values], take)

    def _table(self, database: BaseDatabaseWrapper) -> str:
        return str(database.ops.quote_name(self._model._meta.db_table))

    def _column(self, name: str, database: BaseDatabaseWrapper) -> str:
        return str(database.ops.quote_name(str(self._fields[name].column)))

    def _columns(self, names: Iterable[str], database: BaseDatabaseWrapper) -> str:
        return ", ".join(self._column(name, database) for name in names)

    def _where(self, names: Iterable[str], database: BaseDatabaseWrapper) -> str:
        return " AND ".join(f"{self._column(name, database)} = %s" for name in names)

    def _run(self, values: Mapping[str, object], take: Callable[[Any], Any]) -> Any:
        """Executes it with values by the names of their columns."""
        database = database_here()
        form = self._form(database)
        given = [values[name] for name in self._given]
        return self._execute(database, form, stored(given, form.stores, database), take)


def stored(
    values: Iterable[Any], stores: Iterable[Store], database: BaseDatabaseWrapper
) -> list[Any]:
    """Values as the database takes them.

    Raises:
        DataError: One is a text that no database takes.
    """
    ready = []
    for value, (prepare, plain) in zip(values, stores, strict=True):
        if type(value) is plain:
            if plain is str and "\0" in value:  # type: ignore[operator]  # it is a text
                reject_nul((value,))
        elif value is not None:
            value = prepare(value, database)
            reject_nul((value,))
        ready.append(value)
    return ready


def _own(sql: str) -> str:
    """A statement as SQLite itself reads it."""
    return sql.replace("%s", "?")


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
        columns = model._meta.concrete_fields
        names = [field.attname for field in columns if not isinstance(field, AutoField)]
        super().__init__(model, names)
        self._returning = returning
        self._or_ignore = or_ignore
        self._or_existing = or_existing
        self._large = large
        self._defaults: dict[str, dict[str, object]] = {}
        self._stores: dict[str, dict[str, Store]] = {}

    def __call__(self, **values: object) -> Row | None:
        """Inserts a row.

        Returns:
            The columns asked for; None when none were, or when nothing was inserted.

        Raises:
            DataError: A value is a text that no database takes.
            IntegrityError: The row breaks a constraint.
            OperationalError: What was asked for did not come back.
            TypeError: A value has the name of no column.
        """
        database = database_here()
        form = self._form(database)
        row: dict[str, Any] = self._defaults[database.vendor].copy()
        if not values.keys() <= row.keys():
            raise TypeError(f"No columns: {', '.join(sorted(values.keys() - row.keys()))}")
        by_name = self._stores[database.vendor]
        stores = [by_name[name] for name in values]
        row.update(zip(values, stored(values.values(), stores, database), strict=True))
        is_large = bool(self._large) and len(row[self._large]) > LARGE
        execute = self._execute_large if is_large else self._execute
        inserted = execute(database, form, list(row.values()), self._take(row, database))
        if self._or_existing and inserted is None and self._knows(database):
            inserted = self._existing(row, database)
        if self._returning and (None in inserted if inserted else not self._or_ignore):
            raise OperationalError("what was inserted did not come back")
        return cast("Row | None", inserted)

    def _take(self, row: Mapping[str, Any], database: BaseDatabaseWrapper) -> Callable[[Any], Any]:
        if not self._returning:
            return _nothing
        return partial(self._known, row) if self._knows(database) else ONE_ROW

    def _knows(self, database: BaseDatabaseWrapper) -> bool:
        """Whether a row that was inserted is known without being returned.

        SQLite keeps what it returns in a table that it makes for it: of 19 us that it takes to
        insert a message, 11.
        """
        return database.vendor == "sqlite"

    def _known(self, row: Mapping[str, Any], cursor: Any) -> Row | None:
        """Of a row the columns asked for, if it was inserted: what was given, and the id it got."""
        if not cursor.rowcount:
            return None
        return tuple(row.get(name, cursor.lastrowid) for name in self._returning)

    def _existing(self, row: Mapping[str, Any], database: BaseDatabaseWrapper) -> Any:
        """Of the row that was there already the columns asked for."""
        columns, table = self._columns(self._returning, database), self._table(database)
        sql = f"SELECT {columns} FROM {table} WHERE {self._where(self._or_existing, database)}"  # noqa: S608  # names of the models
        form = _Form(sql, _own(sql), ())
        return self._execute(database, form, [row[name] for name in self._or_existing], ONE_ROW)

    def _build(self, database: BaseDatabaseWrapper) -> str:
        self._defaults[database.vendor] = {
            name: self._fields[name].get_db_prep_save(self._fields[name].get_default(), database)
            for name in self._given
        }
        self._stores[database.vendor] = {
            name: store_of(self._fields[name], database) for name in self._given
        }
        columns = self._columns(self._given, database)
        places = ", ".join(self._place(name, database) for name in self._given)
        parts = ["INSERT INTO", self._table(database), f"({columns})", f"VALUES ({places})"]
        if self._or_ignore:
            parts.append("ON CONFLICT DO NOTHING")
        if self._or_existing:
            parts.append(f"ON CONFLICT ({self._columns(self._or_existing, database)}) DO")
            knows = self._knows(database)
            parts.append("NOTHING" if knows else f"UPDATE SET {self._unchanged(database)}")
        if self._returning and not self._knows(database):
            parts += ["RETURNING", self._columns(self._returning, database)]
        return " ".join(parts)

    def _place(self, name: str, database: BaseDatabaseWrapper) -> str:
        """The place of a value; SQLite is given a large text as bytes, and told that it is one."""
        is_bytes = database.vendor == "sqlite" and name == self._large
        if is_bytes and isinstance(self._fields[name], TextField):
            return "CAST(%s AS TEXT)"
        return "%s"

    def _unchanged(self, database: BaseDatabaseWrapper) -> str:
        """Sets a column to what it is, which makes PostgreSQL return the row.

        It locks a row for more where a column changes that others may refer to: whoever
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
        append = append or {}
        super().__init__(model, (*set, *add, *either, *append, *where))
        self._where_names, self._set, self._add, self._either = where, set, add, either
        self._append = append

    def __call__(self, **values: object) -> int:
        """Updates; every column of the statement needs its value.

        Returns:
            Rows that were found.
        """
        return int(self._run(values, FOUND))

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
        super().__init__(model, where)
        self._where_names = where

    def __call__(self, **values: object) -> int:
        """Deletes the rows that match.

        Returns:
            Rows that were found.
        """
        return int(self._run(values, FOUND))

    def _build(self, database: BaseDatabaseWrapper) -> str:
        where = self._where(self._where_names, database)
        return " ".join(("DELETE FROM", self._table(database), "WHERE", where))


def _nothing(_cursor: object) -> None:
    """Takes nothing of a cursor."""
