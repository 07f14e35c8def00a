"""Tools that display rows as a table or a chart."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, TypeAlias

from pydantic import Field, StringConstraints

from copilot_admin.agent.text import join_names, quote
from copilot_admin.agent.tools.tool import ToolContext, ToolMistake, ToolResult, tool
from protocol.events import ArtifactType, MessageArtifact
from protocol.json import JsonObject

MAX_SERIES = 20  # more lines can't be distinguished


class ChartType(StrEnum):
    LINE = "line"
    BAR = "bar"
    SCATTER = "scatter"
    PIE = "pie"
    DONUT = "donut"


ROUND = frozenset({ChartType.PIE, ChartType.DONUT})
Rows: TypeAlias = Annotated[
    list[dict[str, str | int | float | bool | None]],
    Field(min_length=1, description="The rows, all with the same keys, as in the source."),
]
ArtifactName: TypeAlias = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1),
    Field(description="A short title."),
]
Description: TypeAlias = Annotated[str, Field(description="What it shows, in one sentence.")]
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


@tool
async def table(
    context: ToolContext, name: ArtifactName, description: Description, rows: Rows
) -> ToolResult:
    """Shows rows to the user as a table. Do not repeat the rows in your text."""
    artifact = MessageArtifact(
        type=ArtifactType.TABLE,
        uuid=str(context.id),
        artifact_name=name,
        description=description,
        content=rows,
    )
    return ToolResult(f"The user now sees the table {name!r} with {len(rows)} rows.", (artifact,))


@tool
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
    if type in ROUND and len(y) != 1:
        raise ToolMistake(f"A {type} chart has exactly one column in y, not {len(y)}.")
    check_columns((x, *y), rows=rows)
    for column in y:
        if has_text(column, rows=rows):
            raise ToolMistake(f"The column {quote(column)} has text in it; y takes numbers only.")
    if type is ChartType.SCATTER and has_text(x, rows=rows):
        raise ToolMistake(describe_text_on_x(x))
    artifact = MessageArtifact(
        type=ArtifactType.CHART,
        uuid=str(context.id),
        artifact_name=name,
        description=description,
        content=rows,
        chart_params=chart_params(type, x=x, y=y),
    )
    return ToolResult(f"The user now sees the {type} chart {name!r}.", (artifact,))


def chart_params(type: ChartType, *, x: str, y: list[str]) -> JsonObject:
    """Return the drawing instructions of generation 3."""
    if type in ROUND:
        return {"chartType": type.value, "angleKey": y[0], "calloutLabelKey": x}
    return {"chartType": type.value, "xKey": x, "yKey": y}


def check_columns(keys: Iterable[str], *, rows: Iterable[Mapping[str, object]]) -> None:
    """Check that each column occurs in some row.

    Raises:
        ToolMistake: A column doesn't; the text lists the columns.
    """
    columns = dict.fromkeys(column for row in rows for column in row)
    for key in keys:
        if key not in columns:
            raise ToolMistake(
                f"The rows have no column {quote(key)}. Their columns: {join_names(columns)}."
            )


def has_text(column: str, *, rows: Iterable[Mapping[str, object]]) -> bool:
    values = (row[column] for row in rows if row.get(column) is not None)
    return not all(isinstance(value, int | float) for value in values)


def describe_text_on_x(column: str) -> str:
    return (
        f"The column {quote(column)} has text in it; x of a scatter chart takes numbers only. "
        "Name another x, or draw a line or bar chart."
    )
