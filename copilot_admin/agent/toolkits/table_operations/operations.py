"""The steps that work on a table, each a small value that turns a table into another."""

from collections.abc import Callable, Mapping, Sequence
import operator
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from copilot_admin.agent.toolkits.table_operations.aggregates import Aggregate, aggregated, numbers
from copilot_admin.agent.toolkits.table_operations.cells import (
    LARGEST,
    Cell,
    Number,
    Row,
    is_empty,
    number_of,
    order,
    tidy,
)
from copilot_admin.agent.toolkits.table_operations.filtering import MAX_VALUES, Filter
from copilot_admin.agent.toolkits.table_operations.steps import TableStep
from copilot_admin.agent.toolkits.table_operations.table import MAX_COLUMNS, MAX_ROWS, Table

MAX_OPERATIONS = 12
MAX_BY = 10  # columns that rows are ordered or grouped by
MAX_AGGREGATES = 50  # columns of results
ALL_ROWS = "*"  # as a column of `aggregate`: the rows themselves, to be counted


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Columns: TypeAlias = Annotated[
    tuple[str, ...], BeforeValidator(_listed), Field(min_length=1, max_length=MAX_COLUMNS)
]
ByColumns: TypeAlias = Annotated[
    tuple[str, ...], BeforeValidator(_listed), Field(max_length=MAX_BY)
]
Aggregates: TypeAlias = Annotated[
    tuple[Aggregate, ...], BeforeValidator(_listed), Field(min_length=1, max_length=len(Aggregate))
]
RowCount: TypeAlias = Annotated[int, Field(ge=1, le=MAX_ROWS)]


class Select(TableStep):
    """Keeps some columns, in the order in which they are named."""

    op: Literal["select"]
    columns: Columns

    def apply(self, table: Table) -> Table:
        """The table with the named columns only."""
        table.check(*self.columns)
        columns = tuple(dict.fromkeys(self.columns))
        return Table(columns, tuple({key: row[key] for key in columns} for row in table.rows))


class Sort(TableStep):
    """Orders the rows: numbers by size, texts by their letters, what is empty last."""

    op: Literal["sort"]
    by: ByColumns
    descending: bool = False

    def apply(self, table: Table) -> Table:
        """The rows in order; equal ones stay as they were."""
        table.check(*self.by)
        rows: Sequence[Row] = table.rows
        for column in reversed(self.by):
            rows = _ordered(rows, column, descending=self.descending)
        return Table(table.columns, tuple(rows))


class Top(TableStep):
    """Keeps the rows with the largest numbers of a column, or with the smallest, in order."""

    op: Literal["top", "bottom"]
    n: RowCount
    by: str

    def apply(self, table: Table) -> Table:
        """At most `n` rows; those without a number are not among them."""
        table.check(self.by)
        numbers([row[self.by] for row in table.rows], column=self.by)
        rows = [row for row in table.rows if not is_empty(row[self.by])]
        ordered = _ordered(rows, self.by, descending=self.op == "top")
        return Table(table.columns, tuple(ordered[: self.n]))


class Limit(TableStep):
    """Keeps the first rows."""

    op: Literal["limit"]
    n: RowCount

    def apply(self, table: Table) -> Table:
        """At most `n` rows."""
        return Table(table.columns, table.rows[: self.n])


class Group(TableStep):
    """Makes one row of all that agree in some columns; of all rows, if none is named.

    The columns of the result are those, and one for each aggregate: `sales_sum`, or `count` for
    `{"*": "count"}`.
    """

    op: Literal["group"]
    by: ByColumns = ()
    aggregate: dict[str, Aggregates] = Field(min_length=1, max_length=MAX_COLUMNS)

    def apply(self, table: Table) -> Table:
        """One row for each group, in the order in which the groups first appear."""
        counted = {column for column in self.aggregate if column != ALL_ROWS}
        table.check(*self.by, *counted)
        if set(self.aggregate.get(ALL_ROWS, ())) - {Aggregate.COUNT}:
            raise ValueError('Rows can only be counted: {"*": "count"}.')
        if len(self._results()) > MAX_AGGREGATES:
            raise ValueError(f"A group has at most {MAX_AGGREGATES} aggregates. Ask for fewer.")
        groups: dict[object, list[Row]] = {} if self.by else {(): []}
        for row in table.rows:
            key = tuple((isinstance(row[one], bool), row[one]) for one in self.by)
            groups.setdefault(key, []).append(row)
        rows = tuple(self._row(group) for group in groups.values())
        return Table((*self.by, *(name for name, _, _ in self._results())), rows)

    def _results(self) -> list[tuple[str, str, Aggregate]]:
        return [
            ("count" if column == ALL_ROWS else f"{column}_{kind}", column, kind)
            for column, kinds in self.aggregate.items()
            for kind in kinds
        ]

    def _row(self, rows: Sequence[Row]) -> Row:
        made: dict[str, Cell] = {column: rows[0][column] for column in self.by}
        for name, column, kind in self._results():
            if column == ALL_ROWS:
                made[name] = len(rows)
            else:
                made[name] = aggregated(kind, [row[column] for row in rows], column=column)
        return made


_WORK: Mapping[str, Callable[[Number, Number], Number]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


class Derive(TableStep):
    """Adds a column that is worked out of two others, or of one and a number."""

    op: Literal["derive"]
    column: str = Field(min_length=1)
    left: str | Number
    operator: Literal["+", "-", "*", "/"]
    right: str | Number

    def apply(self, table: Table) -> Table:
        """The table with the column; empty where a number is missing or zero divides."""
        table.check(*(side for side in (self.left, self.right) if isinstance(side, str)))
        rows = tuple({**row, self.column: self._result(row)} for row in table.rows)
        return Table(tuple(dict.fromkeys((*table.columns, self.column))), rows)

    def _result(self, row: Row) -> Cell:
        left, right = self._number(row, self.left), self._number(row, self.right)
        if left is None or right is None or (self.operator == "/" and not right):
            return None
        result = _WORK[self.operator](left, right)
        return tidy(result) if abs(result) <= LARGEST else None

    def _number(self, row: Row, side: str | Number) -> Number | None:
        if not isinstance(side, str):
            return number_of(side)
        return next(iter(numbers([row[side]], column=side)), None)


_NAMES = ("filter", "select", "sort", "top", "bottom", "limit", "group", "derive")
Operation: TypeAlias = Filter | Select | Sort | Top | Limit | Group | Derive
_OPERATIONS: TypeAdapter[tuple[Operation, ...]] = TypeAdapter(
    tuple[Annotated[Operation, Field(discriminator="op")], ...]
)


def read_operations(operations: object) -> tuple[Operation, ...]:
    """Reads the steps that a model or a program asks for.

    Args:
        operations: A list of objects with `op` and what it needs, or one such object.

    Raises:
        ValueError: One of them is none; the text says which and why.
    """
    listed = [operations] if isinstance(operations, Mapping) else operations
    if not isinstance(listed, list | tuple):
        raise ValueError("The operations are no list of objects, each with its op.")
    if len(listed) > MAX_OPERATIONS:
        raise ValueError(f"There are {len(listed)} operations; at most {MAX_OPERATIONS} are done.")
    try:
        return _OPERATIONS.validate_python(listed)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place, *where = first["loc"]
        what = ": ".join([*map(str, where), first["msg"]])
        if "value" in where[1:2]:
            what = f"filter: value: it is a text, a number or a list of at most {MAX_VALUES:,}"
        if not where:
            what = f"it has to be an object whose op is one of {', '.join(_NAMES)}"
        raise ValueError(f"Operation {int(place) + 1}: {what}.") from None


def _ordered(rows: Sequence[Row], column: str, *, descending: bool) -> list[Row]:
    filled = [row for row in rows if not is_empty(row[column])]
    empty = [row for row in rows if is_empty(row[column])]
    return [*sorted(filled, key=lambda row: order(row[column]), reverse=descending), *empty]
