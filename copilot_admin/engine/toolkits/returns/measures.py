"""The measures that can be asked for, each as a table for people and lines for a model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from copilot_admin.engine.toolkits.returns import between, pointwise, single
from copilot_admin.engine.toolkits.returns.options import Options
from copilot_admin.engine.toolkits.returns.paths import Path, aligned, path_of
from copilot_admin.engine.toolkits.returns.series import SeriesSet
from copilot_admin.engine.toolkits.returns.telling import (
    Points,
    Row,
    checked,
    line,
    lines_of,
    table_of,
)


class Measure(StrEnum):
    """What can be measured of series."""

    SUMMARY = "summary"
    RETURNS = "returns"
    LOG_RETURNS = "log_returns"
    TOTAL_RETURN = "total_return"
    ANNUALISED_RETURN = "annualised_return"
    CAGR = "cagr"
    VOLATILITY = "volatility"
    SHARPE = "sharpe"
    DRAWDOWN = "drawdown"
    MAX_DRAWDOWN = "max_drawdown"
    ROLLING_RETURN = "rolling_return"
    ROLLING_VOLATILITY = "rolling_volatility"
    CORRELATION = "correlation"
    BETA = "beta"


@dataclass(frozen=True, slots=True)
class Measured:
    """What a measure gave, as a table for people and as lines for a model.

    Attributes:
        title: Of the table.
        rows: For people: flat, with numbers to twelve digits, fractions as such.
        lines: For a model: rounded, fractions in percent.
        notes: What was assumed, left out or is to be borne in mind.
    """

    title: str
    rows: tuple[Row, ...]
    lines: tuple[str, ...]
    notes: tuple[str, ...]


def measure_of(measure: Measure, given: SeriesSet, options: Options) -> Measured:
    """Measures series.

    Raises:
        ValueError: The series are too few, too short or no prices; the text says what is needed.
        OverflowError: The result is too large for a number.
    """
    comparing = _BETWEEN.get(measure)
    notes: list[str] = []
    rows: Sequence[Row]
    if comparing:
        given = aligned(given)
        paths = _paths(given, options)
        rows, lines = comparing(paths, options, notes)
    elif at_each_point := _AT_EACH_POINT.get(measure):
        columns = {
            path.name: at_each_point(path, options, notes) for path in _paths(given, options)
        }
        rows, lines = table_of(columns, dated=given.dated), lines_of(columns)
    else:
        cells = _OF_ONE[measure]
        rows = [
            checked({"series": path.name, **cells(path, options, notes)})
            for path in _paths(given, options)
        ]
        lines = [line(row) for row in rows]
    return Measured(
        title=measure.replace("_", " ").capitalize(),
        rows=tuple(map(checked, rows)),
        lines=tuple(lines),
        notes=tuple(dict.fromkeys((*given.notes, *notes))),
    )


def _paths(given: SeriesSet, options: Options) -> list[Path]:
    return [path_of(series, options.kind) for series in given.series]


_OfOne: TypeAlias = Callable[[Path, Options, list[str]], Row]
_AtEachPoint: TypeAlias = Callable[[Path, Options, list[str]], Points]
_Between: TypeAlias = Callable[
    [Sequence[Path], Options, list[str]], tuple[Sequence[Row], Sequence[str]]
]

_OF_ONE: Mapping[Measure, _OfOne] = {
    Measure.SUMMARY: single.summary,
    Measure.TOTAL_RETURN: single.total_return,
    Measure.ANNUALISED_RETURN: single.annualised_return,
    Measure.CAGR: single.cagr,
    Measure.VOLATILITY: single.volatility,
    Measure.SHARPE: single.sharpe,
    Measure.MAX_DRAWDOWN: single.max_drawdown,
}
_AT_EACH_POINT: Mapping[Measure, _AtEachPoint] = {
    Measure.RETURNS: pointwise.returns,
    Measure.LOG_RETURNS: pointwise.log_returns,
    Measure.DRAWDOWN: pointwise.drawdown,
    Measure.ROLLING_RETURN: pointwise.rolling_return,
    Measure.ROLLING_VOLATILITY: pointwise.rolling_volatility,
}
_BETWEEN: Mapping[Measure, _Between] = {
    Measure.CORRELATION: between.correlation,
    Measure.BETA: between.beta,
}
