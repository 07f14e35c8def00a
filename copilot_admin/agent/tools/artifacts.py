"""What the tools that make artifacts share: rows and names."""

from collections.abc import Iterable, Mapping
from typing import Annotated, TypeAlias

from pydantic import Field, StringConstraints

from copilot_admin.agent.toolkits.texts import listed, quoted
from copilot_admin.agent.tools.tool_arguments import ToolMistake

Cell: TypeAlias = str | int | float | bool | None
Row: TypeAlias = dict[str, Cell]
Rows: TypeAlias = Annotated[
    list[Row],
    Field(min_length=1, description="The rows, all with the same keys, as in the source."),
]
ArtifactName: TypeAlias = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1),
    Field(description="A short title."),
]
Description: TypeAlias = Annotated[str, Field(description="What it shows, in one sentence.")]


def check_columns(keys: Iterable[str], *, rows: Iterable[Mapping[str, object]]) -> None:
    """Makes sure that for each of the columns some row has it; the rows are gone through once.

    Raises:
        ToolMistake: None has one; the text names the columns there are.
    """
    columns = dict.fromkeys(column for row in rows for column in row)
    for key in keys:
        if key not in columns:
            raise ToolMistake(
                f"The rows have no column {quoted(key)}. Their columns: {listed(columns)}."
            )
