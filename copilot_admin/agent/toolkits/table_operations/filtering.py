"""Filters: which rows of a table are kept."""

from collections.abc import Callable, Mapping
from enum import StrEnum
import operator
from typing import Annotated, Any, Literal

from pydantic import Field

from copilot_admin.agent.toolkits.table_operations.cells import (
    Cell,
    Number,
    is_empty,
    order,
    words,
)
from copilot_admin.agent.toolkits.table_operations.steps import TableStep
from copilot_admin.agent.toolkits.table_operations.table import Table

MAX_VALUES = 1000


class Comparison(StrEnum):
    """How a filter looks at a cell."""

    EQUAL = "=="
    UNEQUAL = "!="
    ABOVE = ">"
    AT_LEAST = ">="
    BELOW = "<"
    AT_MOST = "<="
    CONTAINS = "contains"
    IN = "in"
    EMPTY = "empty"
    FILLED = "filled"

    @classmethod
    def _missing_(cls, value: object) -> "Comparison | None":
        return cls.EQUAL if value == "=" else None


_ORDERS: Mapping[Comparison, Callable[[Any, Any], bool]] = {
    Comparison.ABOVE: operator.gt,
    Comparison.AT_LEAST: operator.ge,
    Comparison.BELOW: operator.lt,
    Comparison.AT_MOST: operator.le,
}


class Filter(TableStep):
    """Keeps the rows in which a column compares so with a value; letter case does not matter."""

    op: Literal["filter"]
    column: str
    is_: Comparison = Field(alias="is")
    value: Cell | Annotated[tuple[Cell, ...], Field(max_length=MAX_VALUES)] = None

    def apply(self, table: Table) -> Table:
        """The rows of a table that pass the filter.

        Raises:
            ValueError: There is no such column, or not the value that the comparison takes.
        """
        table.check(self.column)
        keeps = self._test()
        return Table(table.columns, tuple(row for row in table.rows if keeps(row[self.column])))

    def _test(self) -> Callable[[Cell], bool]:
        if self.is_ is Comparison.EMPTY:
            return is_empty
        if self.is_ is Comparison.FILLED:
            return lambda cell: not is_empty(cell)
        if self.is_ in (Comparison.EQUAL, Comparison.IN, Comparison.UNEQUAL):
            keys = {_key(value) for value in self._values()}
            wanted = self.is_ is not Comparison.UNEQUAL
            return lambda cell: (_key(cell) in keys) is wanted
        (value,) = self._values(most=1)
        if self.is_ is Comparison.CONTAINS:
            text = words(value)
            return lambda cell: cell is not None and text in words(cell)
        key, compare = _key(value), _ORDERS[self.is_]
        # Numbers compare with numbers only, and texts with texts; what is empty with nothing.
        return lambda cell: (
            (found := _key(cell)) is not None
            and key is not None
            and found[0] == key[0]
            and compare(found, key)
        )

    def _values(self, *, most: int = MAX_VALUES) -> tuple[Cell, ...]:
        if "value" not in self.model_fields_set:
            raise ValueError(f"The filter of {self.column!r} has no value to compare with.")
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        if most == 1 and len(values) != 1:
            raise ValueError(
                f"The comparison {self.is_.value!r} takes one value, not {len(values)}."
            )
        return values


def _key(cell: Cell) -> tuple[int, Number, str] | None:
    return None if is_empty(cell) else order(cell)
