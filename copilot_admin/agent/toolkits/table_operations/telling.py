"""A table in words and JSON for a model, which is told what was left out."""

from collections.abc import Iterator
import json

from copilot_admin.agent.toolkits.table_operations.cells import Cell, Row
from copilot_admin.agent.toolkits.table_operations.table import Table

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
