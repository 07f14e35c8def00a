"""SELECT statements of one fixed form, built once for each kind of database; see `statements`.

A column of a row that is referred to has the name that the ORM gives it: `live__number` is the
column `number` of the row to which the foreign key `live` leads, None where it leads nowhere.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import ForeignKey, Model
import orjson

from copilot_admin.storage.statements import (
    ALL_ROWS,
    ONE_ROW,
    Row,
    Statement,
    database_here,
    stored,
)
from copilot_admin.storage.stored_values import AnyField, read_by

Path = tuple[str, ...]  # foreign keys, and at the end a column
E = TypeVar("E", bound=Enum)


@dataclass(frozen=True, slots=True)
class _Together:
    """Columns of one row of a table that may not be empty there, by their places in what is read.

    Attributes:
        is_sure: Whether that row is always there; if not, all of them are empty or none.
    """

    places: Sequence[int]
    is_sure: bool

    def is_whole(self, row: Row) -> bool:
        """Whether what is read is what a table can hold."""
        empty = [row[place] for place in self.places].count(None)
        return not empty or (empty == len(self.places) and not self.is_sure)


class Select(Statement):
    """Reads some columns of the row that has certain values."""

    def __init__(
        self,
        model: type[Model],
        *columns: str,
        where: Sequence[str] = (),
        unlike: Sequence[str] = (),
        empty: Sequence[str] = (),
        filled: Sequence[str] = (),
        same: Mapping[str, str] | None = None,
        lock: bool = False,
    ) -> None:
        """Prepares the statement.

        Args:
            model: Whose table.
            columns: What is read.
            where: Columns that have the value; no value may be None.
            unlike: Columns that have another value; None is none.
            empty: Columns that have None.
            filled: Columns of text that are not empty: said, it lets SQLite take an index of such rows.
            same: Columns that have one text, whichever row is meant. As a value SQLite would compare it with
                those of its indexes of some rows, and compile the statement anew for each.
            lock: Whether other processes have to wait for the row until the commit.
        """
        super().__init__(model, (*where, *unlike))
        self._paths: Sequence[Path] = [tuple(name.split("__")) for name in columns]
        self._where_names, self._unlike, self._lock = where, unlike, lock
        self._empty, self._filled, self._same = empty, filled, same or {}
        self._converted: dict[str, Sequence[tuple[int, Any, Sequence[Any]]]] = {}
        self._filled_together: Sequence[_Together] = ()

    def __call__(self, **values: object) -> Row | None:
        """Reads the first such row; None if there is none.

        Raises:
            OperationalError: It is empty where its table has something.
        """
        row = self._run(values, ONE_ROW)
        return None if row is None else self._row(row, database_here())

    def _row(self, came: Row, database: BaseDatabaseWrapper) -> Row:
        """A row with values as the model has them."""
        if None in came and not all(one.is_whole(came) for one in self._filled_together):
            raise OperationalError("a row of the database lacks what it has")
        converted = self._converted[database.vendor]
        if not converted:
            return came
        row = list(came)
        for place, expression, converters in converted:
            for convert in converters:
                row[place] = convert(row[place], expression, database)
        return tuple(row)

    def _build(self, database: BaseDatabaseWrapper) -> str:
        self._filled_together = tuple(self._those_filled_together())
        columns = [(place, self._field(path).cached_col) for place, path in enumerate(self._paths)]
        self._converted[database.vendor] = [
            (place, column, converters)
            for place, column in columns
            if (converters := _converters(column, database))
        ]
        parts = ["SELECT", self._list(database), "FROM", self._tables(database)]
        parts += ["WHERE", self._conditions(database)]
        if self._lock and database.features.has_select_for_update:
            parts += ["FOR NO KEY UPDATE OF", self._table(database)]
        return " ".join(parts)

    def _those_filled_together(self) -> Iterator[_Together]:
        """What is filled of each row that is read: of the table, and of those it leads to."""
        for way in dict.fromkeys(path[:-1] for path in self._paths):
            keys = [self._key(way[:end]) for end in range(1, len(way) + 1)]
            to_it = (*way[:-1], keys[-1].attname) if keys else ()
            filled = [
                place
                for place, path in enumerate(self._paths)
                if path == to_it or (path[:-1] == way and not self._field(path).null)
            ]
            yield _Together(filled, is_sure=not any(key.null for key in keys))

    def _list(self, database: BaseDatabaseWrapper) -> str:
        return ", ".join(self._placed(path, database) for path in self._paths)

    def _conditions(self, database: BaseDatabaseWrapper) -> str:
        alike = (f"{self._placed((name,), database)} = %s" for name in self._where_names)
        unlike = (f"{self._placed((name,), database)} <> %s" for name in self._unlike)
        empty = (f"{self._placed((name,), database)} IS NULL" for name in self._empty)
        filled = (f"NOT ({self._placed((name,), database)} = '')" for name in self._filled)
        same = (
            f"{self._placed((name,), database)} = '{text}'" for name, text in self._same.items()
        )
        return " AND ".join((*alike, *unlike, *empty, *filled, *same))

    def _tables(self, database: BaseDatabaseWrapper) -> str:
        """The table, with those to which foreign keys lead."""
        quote = database.ops.quote_name
        parts = [self._table(database)]
        ways = (path[:end] for path in self._paths for end in range(1, len(path)))
        for way in dict.fromkeys(ways):
            key = self._key(way)
            name, target = quote("__".join(way)), key.target_field
            parts.append(
                f"LEFT JOIN {quote(target.model._meta.db_table)} {name} "
                f"ON {name}.{quote(str(target.column))} = "
                f"{self._place(way[:-1], database)}.{quote(str(key.column))}"
            )
        return " ".join(parts)

    def _placed(self, path: Path, database: BaseDatabaseWrapper) -> str:
        """A column with the table in which it is."""
        column = database.ops.quote_name(str(self._field(path).column))
        return f"{self._place(path[:-1], database)}.{column}"

    def _place(self, way: Path, database: BaseDatabaseWrapper) -> str:
        return str(database.ops.quote_name("__".join(way))) if way else self._table(database)

    def _model_at(self, way: Path) -> type[Model]:
        return self._key(way).target_field.model if way else self._model

    def _key(self, way: Path) -> "ForeignKey[Any, Any]":
        fields = self._model_at(way[:-1])._meta.concrete_fields
        return next(one for one in fields if one.name == way[-1] and isinstance(one, ForeignKey))

    def _field(self, path: Path) -> AnyField:
        fields = self._model_at(path[:-1])._meta.concrete_fields
        return next(field for field in fields if field.attname == path[-1])


class SelectMany(Select):
    """Reads some columns of the rows in which a column has one of many texts."""

    def __init__(
        self,
        model: type[Model],
        *columns: str,
        among: str,
        where: Sequence[str] = (),
        last: str = "",
        most: int | None = None,
        cut: Mapping[str, int] | None = None,
    ) -> None:
        """Prepares the statement.

        Args:
            model: Whose table.
            columns: What is read.
            among: The column that has one of the texts.
            where: Other columns, which are compared; no value may be None.
            last: A column by which rows are ordered, the greatest first.
            most: Rows that are read at the most.
            cut: Characters of long texts that are read at the most, by column.
        """
        super().__init__(model, *columns, where=where)
        self._among, self._last, self._most, self._cut = among, last, most, cut or {}

    def all(self, texts: Iterable[str], **values: object) -> list[Row]:
        """Reads the rows that there are.

        Raises:
            OperationalError: One is empty where its table has something.
        """
        database = database_here()
        form = self._form(database)
        wanted = list(texts)
        # One parameter whatever their number, so that the statement is always the same.
        as_one = wanted if database.vendor == "postgresql" else orjson.dumps(wanted).decode()
        others = [values[name] for name in self._given]
        given = [*stored(others, form.stores, database), as_one]
        rows = self._execute(database, form, given, ALL_ROWS)
        return [self._row(row, database) for row in rows]

    def _build(self, database: BaseDatabaseWrapper) -> str:
        parts = [super()._build(database)]
        if self._last:
            parts.append(f"ORDER BY {self._placed((self._last,), database)} DESC")
        if self._most is not None:
            parts.append(f"LIMIT {self._most}")
        return " ".join(parts)

    def _list(self, database: BaseDatabaseWrapper) -> str:
        return ", ".join(
            f"SUBSTR({self._placed(path, database)}, 1, {self._cut[path[-1]]})"
            if path[-1] in self._cut
            else self._placed(path, database)
            for path in self._paths
        )

    def _conditions(self, database: BaseDatabaseWrapper) -> str:
        column = self._placed((self._among,), database)
        among = (
            "= ANY(%s)"
            if database.vendor == "postgresql"
            else "IN (SELECT value FROM json_each(%s))"
        )
        return " AND ".join(filter(None, (super()._conditions(database), f"{column} {among}")))


def member(kind: type[E], value: object) -> E:
    """The one of a closed set that a row names.

    Raises:
        OperationalError: It names none: that is not what was stored.
    """
    try:
        return kind(value)
    except ValueError as error:
        raise OperationalError(f"a row names no {kind.__name__}") from error


def _converters(column: Any, database: BaseDatabaseWrapper) -> list[Any]:
    """What makes a value of the model of that which the database gives."""
    converters = [*database.ops.get_db_converters(column), *column.get_db_converters(database)]
    return [read_by(convert, database) for convert in converters]
