"""The measures between series, over the returns that all of them have.

Every function takes the paths, the options, and the notes to which it adds what was assumed.
"""

from collections.abc import Sequence
from typing import TypeAlias

from copilot_admin.agent.toolkits.returns import formulas
from copilot_admin.agent.toolkits.returns.options import Options
from copilot_admin.agent.toolkits.returns.paths import Path
from copilot_admin.agent.toolkits.returns.single import year_noted
from copilot_admin.agent.toolkits.returns.telling import Cell, Row, free_name, line, number

RowsAndLines: TypeAlias = tuple[Sequence[Row], Sequence[str]]


def correlation(paths: Sequence[Path], options: Options, notes: list[str]) -> RowsAndLines:
    """The matrix of correlations."""
    notes.append(_counted(paths))
    rows: list[Row] = []
    lines: list[str] = []
    head = free_name("series", [path.name for path in paths])
    for place, one in enumerate(paths):
        row: dict[str, Cell] = {head: one.name}
        for other_place, other in enumerate(paths):
            found = (
                rows[other_place][one.name]
                if other_place < place
                else formulas.correlation(one.returns, other.returns)
            )
            row[other.name] = found
            if other_place > place:
                lines.append(f"{one.name} and {other.name}: {_number(found)}")
        if row[one.name] is None:
            notes.append(f"No correlation with {one.name!r}: its returns do not vary.")
        rows.append(row)
    return rows, lines


def beta(paths: Sequence[Path], options: Options, notes: list[str]) -> RowsAndLines:
    """The beta of each series to the benchmark: the one that is named so, else the last."""
    notes.append(_counted(paths))
    benchmark = _benchmark(paths, options.benchmark.strip(), notes)
    rows: list[Row] = [
        {
            "series": path.name,
            "beta": formulas.beta(path.returns, benchmark.returns),
            "benchmark": benchmark.name,
        }
        for path in paths
        if path is not benchmark
    ]
    if rows[0]["beta"] is None:
        notes.append(f"No beta: the returns of {benchmark.name!r} do not vary.")
    lines = [f"{row['series']}: beta {_number(row['beta'])} to {benchmark.name}" for row in rows]
    return rows, lines


def tracking_error(paths: Sequence[Path], options: Options, notes: list[str]) -> RowsAndLines:
    """How much the returns of each series stray from those of the benchmark, made annual."""
    notes.append(_counted(paths))
    benchmark = _benchmark(paths, options.benchmark.strip(), notes)
    year = year_noted(benchmark, options, notes)
    rows: list[Row] = [
        {
            "series": path.name,
            "tracking_error": formulas.volatility(
                [one - other for one, other in zip(path.returns, benchmark.returns, strict=True)],
                year.periods,
            ),
            "benchmark": benchmark.name,
        }
        for path in paths
        if path is not benchmark
    ]
    if rows[0]["tracking_error"] is None:
        notes.append("No tracking error: it needs two common returns.")
    notes.append("It is the standard deviation of a sample (n - 1) of the differences, a year.")
    return rows, [line(row) for row in rows]


def _benchmark(paths: Sequence[Path], name: str, notes: list[str]) -> Path:
    if not name:
        notes.append(f"No benchmark was named: it is {paths[-1].name!r}, the last series.")
        return paths[-1]
    for path in paths:
        if path.name.lower() == name.lower():
            return path
    known = ", ".join(path.name for path in paths)
    raise ValueError(f"There is no series {name!r} for the benchmark. The series are: {known}.")


def _counted(paths: Sequence[Path]) -> str:
    return f"Common returns: {len(paths[0].returns)}."


def _number(value: Cell) -> str:
    return number(value) if isinstance(value, float) else "none"
