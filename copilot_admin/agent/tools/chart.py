"""The tool that draws rows as a chart."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from copilot_admin.agent.toolkits.texts import quoted
from copilot_admin.agent.tools.artifacts import (
    ArtifactName,
    Description,
    Row,
    Rows,
    check_columns,
)
from copilot_admin.agent.tools.registry import ToolContext, ToolResult, tool
from copilot_admin.agent.tools.tool_arguments import ToolMistake
from protocol.events import ArtifactType
from protocol.json import JsonObject


class ChartType(StrEnum):
    """How the rows are drawn."""

    LINE = "line"
    BAR = "bar"
    SCATTER = "scatter"
    PIE = "pie"
    DONUT = "donut"


# Of one chart; each is looked for in every row, and nobody tells more lines apart.
MAX_SERIES = 20
ROUND = frozenset({ChartType.PIE, ChartType.DONUT})
LabelColumn = Annotated[
    str,
    Field(description="The column on the x axis; of a pie, its labels; of a scatter, numbers."),
]
ValueColumns = Annotated[
    list[str],
    Field(
        min_length=1,
        max_length=MAX_SERIES,
        description="The columns with numbers; of a pie, just one.",
    ),
]


@tool(
    samples=[
        {
            "name": "Prices",
            "description": "By day.",
            "type": "bar",
            "rows": [{"day": "Mon", "price": 1}],
            "x": "day",
            "y": ["price"],
        }
    ]
)
async def chart(
    context: ToolContext,
    name: ArtifactName,
    description: Description,
    type: ChartType,
    rows: Rows,
    x: LabelColumn,
    y: ValueColumns,
) -> ToolResult:
    """Draws rows for the user as a chart. Use only numbers that you were given."""
    _check(type, rows=rows, x=x, y=y)
    artifact = context.artifact(
        ArtifactType.CHART,
        name=name,
        description=description,
        content=rows,
        chart_params=chart_params(type, x=x, y=y),
    )
    return ToolResult(f"The user now sees the {type} chart {name!r}.", (artifact,))


def chart_params(type: ChartType, *, x: str, y: list[str]) -> JsonObject:
    """The drawing instructions as clients know them. Source: chart params of generation 3."""
    if type in ROUND:
        return {"chartType": type.value, "angleKey": y[0], "calloutLabelKey": x}
    return {"chartType": type.value, "xKey": x, "yKey": y}


def has_text(column: str, *, rows: Iterable[Mapping[str, object]]) -> bool:
    values = (row[column] for row in rows if row.get(column) is not None)
    return not all(isinstance(value, int | float) for value in values)


def text_on_x(column: str) -> str:
    """What is wrong with a scatter chart of such a column. Source: clients draw numbers only."""
    return (
        f"The column {quoted(column)} has text in it; x of a scatter chart takes numbers only. Name another "
        "x, or draw a line or bar chart."
    )


def _check(type: ChartType, *, rows: list[Row], x: str, y: list[str]) -> None:
    if type in ROUND and len(y) != 1:
        raise ToolMistake(f"A {type} chart has exactly one column in y, not {len(y)}.")
    check_columns((x, *y), rows=rows)
    for column in y:
        if has_text(column, rows=rows):
            raise ToolMistake(f"The column {quoted(column)} has text in it; y takes numbers only.")
    if type is ChartType.SCATTER and has_text(x, rows=rows):
        raise ToolMistake(text_on_x(x))
