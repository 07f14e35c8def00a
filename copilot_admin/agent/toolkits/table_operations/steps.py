"""Steps of a table operation, their arguments and description."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
import json
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, WithJsonSchema

from copilot_admin.agent.toolkits.table_operations.cells import Cell, Row
from copilot_admin.agent.toolkits.table_operations.table import Table


class TableStep(BaseModel, ABC):
    """Turns a table into another; its fields are what a model or a program asks for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @abstractmethod
    def apply(self, table: Table) -> Table:
        """The table that it makes of another."""


# One `type` of several names, since servers differ in how they read `anyOf`.
RowsArgument: TypeAlias = Annotated[
    Sequence[Mapping[str, Any]] | str,
    WithJsonSchema({"type": ["array", "string"], "items": {"type": "object"}}),
]
OperationsArgument: TypeAlias = Annotated[
    Sequence[Mapping[str, Any]] | Mapping[str, Any],
    WithJsonSchema({"type": ["array", "object"], "items": {"type": "object"}}),
]
ColumnsArgument: TypeAlias = Annotated[
    Sequence[str] | str,
    WithJsonSchema({"type": ["array", "string"], "items": {"type": "string"}}),
]


TOLD_ROWS = 100
TOLD_CHARACTERS = 12_000
TOLD_OF_A_CELL = 300
SHOWN_ROWS = 1000  # to the user


def told(table: Table) -> str:
    r"""The rows as JSON, one a line, under a sentence that says how many there are.

    Examples:
        >>> told(Table(("n",), ({"n": 1},)))
        '1 row with the columns: n.\n{"n": 1}'
    """
    count = len(table.rows)
    columns = ", ".join(table.columns)[:TOLD_CHARACTERS]
    if not count:
        return f"No row is left. The columns are: {columns}."
    lines = list(_lines(table))
    notes = [f"{count:,} {'row' if count == 1 else 'rows'} with the columns: {columns}."]
    if len(lines) < count:
        notes.append(
            f"Only the first {len(lines):,} are listed here: do not count or add them up. For the"
            " others use group, top, filter or select."
        )
    if count > SHOWN_ROWS:
        notes.append(f"The user sees the first {SHOWN_ROWS:,}.")
    return "\n".join([" ".join(notes), *lines])


def _lines(table: Table) -> Iterator[str]:
    room = TOLD_CHARACTERS
    for row in table.rows[:TOLD_ROWS]:
        line = json.dumps(_shortened(row), ensure_ascii=False)
        room -= len(line)
        if room < 0:
            return
        yield line


def _shortened(row: Row) -> dict[str, Cell]:
    return {
        column: f"{cell[:TOLD_OF_A_CELL]}…"
        if isinstance(cell, str) and len(cell) > TOLD_OF_A_CELL
        else cell
        for column, cell in row.items()
    }
