"""Filtering, grouping, aggregating and ordering of the rows of a table."""

from collections.abc import Callable, Mapping, Sequence
from math import fsum
import operator
from statistics import median, stdev
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from copilot_admin.agent.toolkits.tables import (
    MAX_NUMBER,
    Cell,
    Number,
    Row,
    Table,
    fold,
    is_empty,
    number_of,
    numbers,
    read_table,
    sort_key,
    tidy,
)

ALL_ROWS = "*"  # as a column of `aggregate`: the rows themselves, to be counted
Aggregate: TypeAlias = Literal[
    "sum", "mean", "median", "min", "max", "std", "count", "first", "last"
]
_AsList = BeforeValidator(lambda value: [value] if isinstance(value, str) else value)
Names: TypeAlias = Annotated[tuple[str, ...], _AsList]
Aggregates: TypeAlias = Annotated[tuple[Aggregate, ...], _AsList, Field(min_length=1)]
RowCount: TypeAlias = Annotated[int, Field(ge=1)]
Comparison: TypeAlias = Literal[
    "=", "==", "!=", ">", ">=", "<", "<=", "contains", "in", "empty", "filled"
]
_ORDERS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
_ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


class Step(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Filter(Step):
    op: Literal["filter"]
    column: str
    is_: Comparison = Field(alias="is")
    value: Cell | tuple[Cell, ...] = None


class Select(Step):
    op: Literal["select"]
    columns: Annotated[Names, Field(min_length=1)]


class Sort(Step):
    op: Literal["sort"]
    by: Names
    descending: bool = False


class Top(Step):
    op: Literal["top", "bottom"]
    n: RowCount
    by: str


class Limit(Step):
    op: Literal["limit"]
    n: RowCount


class Group(Step):
    op: Literal["group"]
    by: Names = ()
    aggregate: dict[str, Aggregates] = Field(min_length=1)


class Derive(Step):
    op: Literal["derive"]
    column: str = Field(min_length=1)
    left: str | Number
    operator: Literal["+", "-", "*", "/"]
    right: str | Number


Operation: TypeAlias = Filter | Select | Sort | Top | Limit | Group | Derive
_OPERATIONS: TypeAdapter[tuple[Operation, ...]] = TypeAdapter(
    tuple[Annotated[Operation, Field(discriminator="op")], ...]
)


def analyse(rows: object, operations: object) -> Table:
    """Apply operations to rows, in order.

    Raises:
        ValueError: Rows or operations are not valid, a column is missing or has no numbers; the
            text describes valid input.

    Examples:
        >>> sales = [{"region": "EU", "sales": "1,200"}, {"region": "US", "sales": 5}]
        >>> analyse(sales, {"op": "group", "aggregate": {"sales": ["sum", "mean"]}}).rows
        ({'sales_sum': 1205, 'sales_mean': 602.5},)
        >>> analyse(sales, [{"op": "top", "n": 1, "by": "sales"}]).rows
        ({'region': 'EU', 'sales': '1,200'},)
    """
    table = read_table(rows)
    for step in _read_operations(operations):
        table = _apply(step, table)
    return table


def _read_operations(operations: object) -> tuple[Operation, ...]:
    given = [operations] if isinstance(operations, Mapping) else operations
    if not isinstance(given, list | tuple):
        raise ValueError("The operations are no list of objects, each with its op.")
    try:
        return _OPERATIONS.validate_python(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place, *where = first["loc"]
        message = ": ".join([*map(str, where), first["msg"]])
        raise ValueError(f"Operation {int(place) + 1}: {message}.") from None


def _apply(step: Operation, table: Table) -> Table:
    match step:
        case Filter():
            table.check(step.column)
            keeps = _predicate(step)
            return table.with_rows(row for row in table.rows if keeps(row[step.column]))
        case Select():
            table.check(*step.columns)
            columns = tuple(dict.fromkeys(step.columns))
            return Table(columns, tuple({key: row[key] for key in columns} for row in table.rows))
        case Sort():
            table.check(*step.by)
            rows: Sequence[Row] = table.rows
            for column in reversed(step.by):
                rows = _ordered(rows, column, descending=step.descending)
            return table.with_rows(rows)
        case Top():
            table.check(step.by)
            numbers([row[step.by] for row in table.rows], column=step.by)
            filled = [row for row in table.rows if not is_empty(row[step.by])]
            return table.with_rows(_ordered(filled, step.by, descending=step.op == "top")[: step.n])
        case Limit():
            return table.with_rows(table.rows[: step.n])
        case Group():
            return _grouped(step, table)
        case Derive():
            table.check(*(side for side in (step.left, step.right) if isinstance(side, str)))
            derived = tuple({**row, step.column: _derive(step, row)} for row in table.rows)
            return Table(tuple(dict.fromkeys((*table.columns, step.column))), derived)


def _ordered(rows: Sequence[Row], column: str, *, descending: bool) -> list[Row]:
    filled = [row for row in rows if not is_empty(row[column])]
    empty = [row for row in rows if is_empty(row[column])]
    return [*sorted(filled, key=lambda row: sort_key(row[column]), reverse=descending), *empty]


# --- filters


def _predicate(step: Filter) -> Callable[[Cell], bool]:
    if step.is_ in ("empty", "filled"):
        return lambda cell: is_empty(cell) is (step.is_ == "empty")
    if "value" not in step.model_fields_set:
        raise ValueError(f"The filter of {step.column!r} has no value to compare with.")
    values = step.value if isinstance(step.value, tuple) else (step.value,)
    if step.is_ in ("=", "==", "!=", "in"):
        keys = {_comparable(value) for value in values}
        return lambda cell: (_comparable(cell) in keys) is (step.is_ != "!=")
    if len(values) != 1:
        raise ValueError(f"The comparison {step.is_!r} takes one value, not {len(values)}.")
    if step.is_ == "contains":
        text = fold(values[0])
        return lambda cell: cell is not None and text in fold(cell)
    key, compare = _comparable(values[0]), _ORDERS[step.is_]

    def is_ordered(cell: Cell) -> bool:  # numbers compare only with numbers, and texts with texts
        found = _comparable(cell)
        return bool(found and key and found[0] == key[0] and compare(found, key))

    return is_ordered


def _comparable(cell: Cell) -> tuple[int, Number, str] | None:
    return None if is_empty(cell) else sort_key(cell)


# --- groups


def _grouped(step: Group, table: Table) -> Table:
    table.check(*step.by, *(column for column in step.aggregate if column != ALL_ROWS))
    if set(step.aggregate.get(ALL_ROWS, ())) - {"count"}:
        raise ValueError('Rows can only be counted: {"*": "count"}.')
    results = [
        ("count" if column == ALL_ROWS else f"{column}_{kind}", column, kind)
        for column, kinds in step.aggregate.items()
        for kind in kinds
    ]
    groups: dict[object, list[Row]] = {} if step.by else {(): []}
    for row in table.rows:
        groups.setdefault(tuple(row[one] for one in step.by), []).append(row)
    made: list[Row] = []
    for rows in groups.values():
        cells: dict[str, Cell] = {column: rows[0][column] for column in step.by}
        for name, column, kind in results:
            cells[name] = len(rows) if column == ALL_ROWS else _aggregated(kind, rows, column)
        made.append(cells)
    return Table((*step.by, *(name for name, _, _ in results)), tuple(made))


def _aggregated(kind: Aggregate, rows: Sequence[Row], column: str) -> Cell:
    filled = [row[column] for row in rows if not is_empty(row[column])]
    if kind == "count":
        return len(filled)
    if kind in ("first", "last"):
        return filled[0 if kind == "first" else -1] if filled else None
    if kind in ("min", "max"):
        extreme = min if kind == "min" else max
        if all(number_of(cell) is None for cell in filled):  # for example dates
            return extreme(map(str, filled), default=None)
        return extreme(numbers(filled, column=column))
    values = numbers(filled, column=column)
    if kind == "sum":
        is_whole = all(isinstance(value, int) for value in values)
        return sum(values) if is_whole else tidy(fsum(values))
    if not values or (kind == "std" and len(values) < 2):
        return None
    if kind == "std":
        return tidy(stdev(map(float, values)))
    return tidy(median(values) if kind == "median" else fsum(values) / len(values))


# --- derived columns


def _derive(step: Derive, row: Row) -> Cell:
    left, right = _operand(step.left, row), _operand(step.right, row)
    if left is None or right is None or (step.operator == "/" and not right):
        return None
    result: Number = _ARITHMETIC[step.operator](left, right)
    return tidy(result) if abs(result) <= MAX_NUMBER else None


def _operand(side: str | Number, row: Row) -> Number | None:
    if not isinstance(side, str):
        return number_of(side)
    return next(iter(numbers([row[side]], column=side)), None)
