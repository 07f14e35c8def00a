"""Component that filters, groups, aggregates and orders rows."""

from collections.abc import Iterator
from typing import Any

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.toolkits.table_operations import analyse
from copilot_admin.agent.toolkits.tables import (
    MAX_SHOWN_ROWS,
    OperationsArgument,
    RowsArgument,
    describe_table,
)
from protocol.components import ComponentOutput, ContentType

_SALES = [
    {"region": "EU", "quarter": "Q1", "sales": 120},
    {"region": "US", "quarter": "Q1", "sales": "1,080.5"},
    {"region": "EU", "quarter": "Q2", "sales": 95},
]


class TableAnalyst(Component):
    """Filters, groups, aggregates and orders rows that are given as JSON or CSV."""

    name = "table_analyst"
    version = "v1"
    content_types = (ContentType.JSON, ContentType.TEXT)
    samples = (
        {
            "rows": _SALES,
            "operations": [
                {"op": "group", "by": "region", "aggregate": {"sales": ["sum", "mean"]}},
                {"op": "sort", "by": "sales_sum", "descending": True},
            ],
        },
        {
            "rows": "region,sales\nEU,120\nUS,95",
            "operations": {"op": "filter", "column": "sales", "is": ">", "value": 100},
        },
        {"rows": _SALES, "operations": {"op": "filter", "column": "region", "is": "empty"}},
    )

    def tool_eval(
        self, rows: RowsArgument, operations: OperationsArgument, **kwargs: Any
    ) -> Iterator[ComponentOutput]:
        """Filters, groups, aggregates and orders rows exactly, and shows the user the result.

        Args:
            rows: All rows, as a list of objects with the same keys, or as CSV or JSON text.
            operations: What is done, one after the other; each is an object, one of
                {"op": "filter", "column": "region", "is": "==", "value": "EU"} (is: == != > >= <
                <= contains in empty filled; in takes a list),
                {"op": "group", "by": ["region"], "aggregate": {"sales": ["sum", "mean"], "*":
                "count"}} (sum mean median min max std count first last; makes the columns region,
                sales_sum, sales_mean and count; without by, one row of all),
                {"op": "top", "n": 5, "by": "sales"}, {"op": "bottom", "n": 5, "by": "sales"},
                {"op": "sort", "by": ["sales"], "descending": true},
                {"op": "select", "columns": ["region", "sales"]}, {"op": "limit", "n": 10},
                {"op": "derive", "column": "margin", "left": "profit", "operator": "/", "right":
                "sales"} (left and right are columns or numbers).
            **kwargs: What the system passes; nothing of it is used.
        """
        table = analyse(rows, operations)
        if table.rows:
            shown = [dict(row) for row in table.rows[:MAX_SHOWN_ROWS]]
            yield self.create_output("json", {"data": shown}, name="Result", visible_scope="user")
        yield self.create_output("text", describe_table(table), visible_scope="llm")
