"""The component that draws rows as a chart."""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import WithJsonSchema

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.chart_rows import chart_rows
from copilot_admin.agent.toolkits.table_operations.steps import ColumnsArgument, RowsArgument
from copilot_admin.agent.tools.artifacts import ChartType
from protocol.components import ComponentOutput, ContentType

Type = Annotated[str, WithJsonSchema({"type": "string", "enum": [one.value for one in ChartType]})]
_SALES = [
    {"quarter": "Q1", "sales": 120, "costs": 80},
    {"quarter": "Q2", "sales": "1,080.5", "costs": None},
]


class ChartMaker(Component):
    """Draws rows as a line, bar, scatter, pie or donut chart."""

    name = "chart_maker"
    version = "v1"
    content_types = (ContentType.CHART, ContentType.TEXT)
    samples = (
        {"rows": _SALES, "type": "line", "x": "quarter", "y": ["sales", "costs"]},
        {"rows": "quarter,sales\nQ1,5\nQ2,7", "type": "pie", "x": "quarter", "y": "sales"},
    )

    def tool_eval(
        self, rows: RowsArgument, type: Type, x: str, y: ColumnsArgument, **kwargs: Any
    ) -> Iterator[ComponentOutput]:
        r"""Draws rows for the user as a chart. Use only numbers that you were given.

        Args:
            rows: All rows, as a list of objects with the same keys, or as CSV or JSON text.
            type: How they are drawn; pie and donut show parts of a whole.
            x: The column on the x axis; of a pie or donut, its labels.
            y: The columns with numbers; of a pie or donut, just one.
            **kwargs: What the system passes; nothing of it is used.

        Yields:
            The chart for the user, and a sentence about it for the model.

        Raises:
            ValueError: A column is missing or has no numbers, or the chart would show nothing or
                too much.

        Examples:
            >>> chart, words = ChartMaker().tool_eval("q,n\nQ1,5", type="bar", x="q", y=["n"])
            >>> chart.content[0].text.data
            '{"rows": [{"q": "Q1", "n": 5}], "x_key": "q", "y_keys": ["n"]}'
            >>> words.content[0].text.info
            'The user now sees a bar chart of n by q with 1 point.'
        """
        chart = chart_rows(rows, type=type, x=x, y=y)
        data = {
            "rows": [dict(row) for row in chart.rows],
            "x_key": chart.x,
            "y_keys": list(chart.y),
        }
        yield self.create_output(
            "chart",
            {"type": chart.type.value, "data": data},
            name=chart.title,
            visible_scope="user",
        )
        yield self.create_output("text", chart.in_words, visible_scope="llm")
