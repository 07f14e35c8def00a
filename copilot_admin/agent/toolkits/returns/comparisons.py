"""Measures of one series, between two, and point by point."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypeAlias

from copilot_admin.agent.toolkits.returns import formulas
from copilot_admin.agent.toolkits.returns.options import Options
from copilot_admin.agent.toolkits.returns.paths import Path, Year, year_of, years_of
from copilot_admin.agent.toolkits.returns.points import label
from copilot_admin.agent.toolkits.returns.telling import (
    Cell,
    Points,
    Row,
    free_name,
    line,
    number,
    percent,
)


def total_return(path: Path, options: Options, notes: list[str]) -> Row:
    """P(end) / P(begin) - 1."""
    return {"total_return": formulas.total_return(path.levels)}


def annualised_return(path: Path, options: Options, notes: list[str]) -> Row:
    """By the number of returns: (P(end) / P(begin)) ^ (periods of a year / returns) - 1."""
    year = year_noted(path, options, notes)
    years = len(path.returns) / year.periods
    warn_of_short(years, path, notes)
    return {"annualised_return": formulas.compound_rate(path.levels, years)}


def cagr(path: Path, options: Options, notes: list[str]) -> Row:
    """By the calendar: (P(end) / P(begin)) ^ (365.25 / days) - 1; without dates by the returns."""
    is_dated = isinstance(path.begin, datetime)
    year = Year(1) if is_dated else year_noted(path, options, notes)
    years = years_of(path, year)
    warn_of_short(years, path, notes)
    return {"cagr": formulas.compound_rate(path.levels, years)}


def volatility(path: Path, options: Options, notes: list[str]) -> Row:
    """The standard deviation of the returns, made annual."""
    year = year_noted(path, options, notes)
    found = formulas.volatility(path.returns, year.periods)
    if found is None:
        notes.append(f"No volatility of {path.name!r}: it needs two returns.")
    return {"volatility": found}


def sharpe(path: Path, options: Options, notes: list[str]) -> Row:
    """The Sharpe ratio, made annual."""
    year, rate = year_noted(path, options, notes), options.risk_free_rate
    found = formulas.sharpe_ratio(path.returns, year.periods, risk_free_rate=rate)
    if found is None:
        notes.append(f"No Sharpe ratio of {path.name!r}: it needs two returns that differ.")
    notes.append(f"The Sharpe ratio is over a risk-free rate of {percent(rate)} a year.")
    return {"sharpe": found}


def max_drawdown(path: Path, options: Options, notes: list[str]) -> Row:
    """The deepest fall, with when it began, was deepest, and was made good."""
    found = formulas.max_drawdown(path.levels)
    if found is None:
        return {"max_drawdown": 0.0, "peak": None, "trough": None, "recovery": None}
    recovery = None if found.recovery is None else path.when(found.recovery)
    return {
        "max_drawdown": found.depth,
        "peak": path.when(found.peak),
        "trough": path.when(found.trough),
        "recovery": recovery,
    }


def summary(path: Path, options: Options, notes: list[str]) -> Row:
    """What one wants to know of a series first."""
    row: dict[str, Cell] = {
        "begin": path.when(0),
        "end": path.when(len(path.returns)),
        "returns": len(path.returns),
    }
    for measure in (total_return, annualised_return, volatility, sharpe, max_drawdown):
        row |= measure(path, options, notes)
    return row


def year_noted(path: Path, options: Options, notes: list[str]) -> Year:
    """How many periods a year has, with a note that says it."""
    year = year_of(path, options)
    notes.append(year.note or f"A year has {number(year.periods)} periods of {path.name!r}.")
    return year


def warn_of_short(years: float, path: Path, notes: list[str]) -> None:
    """Says it where a return is made annual that is of less than a year."""
    if years < 1:
        notes.append(
            f"{path.name!r} covers {number(years)} years: a return made annual from less than a"
            " year is no forecast."
        )


def returns(path: Path, options: Options, notes: list[str]) -> Points:
    """The simple return from each value of a series to the next."""
    return list(zip(path.keys, path.returns, strict=True))


def log_returns(path: Path, options: Options, notes: list[str]) -> Points:
    """The logarithmic return from each value of a series to the next."""
    if -1.0 in path.returns:
        key = path.keys[path.returns.index(-1.0)]
        raise ValueError(f"{path.name!r} loses everything at {label(key)}: no log return is that.")
    return list(zip(path.keys, formulas.log_returns(path.returns), strict=True))


def drawdown(path: Path, options: Options, notes: list[str]) -> Points:
    """How far each level is below the highest so far; the first, which has none, is left out."""
    return list(zip(path.keys, formulas.drawdowns(path.levels)[1:], strict=True))


def rolling_return(path: Path, options: Options, notes: list[str]) -> Points:
    """The total return of the window that ends at each point."""
    window = _window(path, options, notes)
    if 0.0 in path.levels[:-1]:
        lost = path.when(path.levels.index(0.0))
        raise ValueError(f"{path.name!r} loses everything at {lost}: nothing returns from there.")
    return [
        (path.keys[end - 1], path.levels[end] / path.levels[end - window] - 1)
        for end in range(window, len(path.levels))
    ]


def rolling_volatility(path: Path, options: Options, notes: list[str]) -> Points:
    """The volatility of the window that ends at each point."""
    window = _window(path, options, notes)
    year = year_noted(path, options, notes)
    found = (
        (path.keys[end - 1], formulas.volatility(path.returns[end - window : end], year.periods))
        for end in range(window, len(path.returns) + 1)
    )
    return [(key, value) for key, value in found if value is not None]


def _window(path: Path, options: Options, notes: list[str]) -> int:
    window, count = options.window, len(path.returns)
    if window > count:
        raise ValueError(
            f"{path.name!r} has {count} returns, fewer than the window of {window}. Give more, or"
            ' say {"values": ..., "window": ...}.'
        )
    notes.append(f"Each value is of the {window} returns up to it.")
    return window


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
