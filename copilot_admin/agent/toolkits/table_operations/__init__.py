"""Filters, groups, aggregates and orders the rows of a table, without a database."""

from copilot_admin.agent.toolkits.table_operations.aggregates import numbers
from copilot_admin.agent.toolkits.table_operations.cells import Cell, Row, is_empty, number_of
from copilot_admin.agent.toolkits.table_operations.operations import (
    MAX_OPERATIONS,
    read_operations,
)
from copilot_admin.agent.toolkits.table_operations.table import (
    MAX_CELLS,
    MAX_ROWS,
    Table,
    read_table,
)

__all__ = [
    "MAX_CELLS",
    "MAX_OPERATIONS",
    "MAX_ROWS",
    "Cell",
    "Row",
    "Table",
    "analysed",
    "is_empty",
    "number_of",
    "numbers",
    "read_operations",
    "read_table",
]


def analysed(rows: object, operations: object) -> Table:
    """What becomes of rows after some operations, one after the other.

    Args:
        rows: A list of objects, JSON text of one, or CSV text with a header.
        operations: Objects with `op` and what it needs, or one of them.

    Raises:
        ValueError: Rows or operations cannot be read, a column is missing or has no numbers; the
            text says what would be right.

    Examples:
        >>> sales = [{"region": "EU", "sales": "1,200"}, {"region": "US", "sales": 5}]
        >>> analysed(sales, {"op": "group", "aggregate": {"sales": ["sum", "mean"]}}).rows
        ({'sales_sum': 1205, 'sales_mean': 602.5},)
        >>> analysed(sales, [{"op": "top", "n": 1, "by": "sales"}]).rows
        ({'region': 'EU', 'sales': '1,200'},)
    """
    table = read_table(rows)
    for operation in read_operations(operations):
        table = operation.apply(table)
    return table
