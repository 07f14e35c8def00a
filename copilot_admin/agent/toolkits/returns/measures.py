"""The measures that can be asked for, each as a table for people and lines for a model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, TypeVar

from copilot_admin.agent.toolkits.returns import cash_flows as payments
from copilot_admin.agent.toolkits.returns import comparisons as between
from copilot_admin.agent.toolkits.returns import comparisons as pointwise
from copilot_admin.agent.toolkits.returns import comparisons as single
from copilot_admin.agent.toolkits.returns import formulas, losses
from copilot_admin.agent.toolkits.returns.options import Options, ReturnUnit, SeriesKind
from copilot_admin.agent.toolkits.returns.paths import Path, aligned, path_of, questions_of
from copilot_admin.agent.toolkits.returns.points import Series, SeriesSet
from copilot_admin.agent.toolkits.returns.telling import (
    Points,
    Row,
    checked,
    line,
    lines_of,
    table_of,
)

_Named = TypeVar("_Named", Series, Path)


class ReturnMeasure(StrEnum):
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
    STANDARD_DEVIATION = "standard_deviation"
    SORTINO = "sortino"
    CALMAR = "calmar"
    VALUE_AT_RISK = "value_at_risk"
    ROLLING_RETURN = "rolling_return"
    ROLLING_VOLATILITY = "rolling_volatility"
    CORRELATION = "correlation"
    BETA = "beta"
    TRACKING_ERROR = "tracking_error"
    IRR = "irr"
    XIRR = "xirr"

    @property
    def is_of_payments(self) -> bool:
        return self in _OF_PAYMENTS

    @property
    def words(self) -> str:
        """The name of the measure, as people write it."""
        return self.upper() if self.is_of_payments else self.replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True)
class MeasuredSeries:
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


def measure_of(measure: ReturnMeasure, given: SeriesSet, options: Options) -> MeasuredSeries:
    """Measures series.

    Raises:
        ValueError: The series are too few, too short or no prices; the text says what is needed.
        OverflowError: The result is too large for a number.
    """
    _check_kind(measure, options)
    if measure in _BETWEEN:
        given = aligned(given)
    notes: list[str] = list(options.questions)
    rows, lines = _rows_and_lines(measure, given, options, notes)
    return MeasuredSeries(
        title=measure.words,
        rows=tuple(map(checked, rows)),
        lines=tuple(lines),
        notes=tuple(dict.fromkeys((*given.notes, *notes))),
    )


def _rows_and_lines(
    measure: ReturnMeasure, given: SeriesSet, options: Options, notes: list[str]
) -> tuple[Sequence[Row], Sequence[str]]:
    if of_payments := _OF_PAYMENTS.get(measure):
        return _each(given.series, lambda one: of_payments(one, options, notes))
    if options.kind is SeriesKind.VALUES:
        return _each(given.series, lambda one: _deviation(one, notes))
    if comparing := _BETWEEN.get(measure):
        return comparing(_paths(given, options, notes), options, notes)
    paths = _paths(given, options, notes)
    if at_each_point := _AT_EACH_POINT.get(measure):
        columns = {path.name: at_each_point(path, options, notes) for path in paths}
        return table_of(columns, dated=given.dated), lines_of(columns)
    return _each(paths, lambda path: _OF_ONE[measure](path, options, notes))


def _each(
    several: Sequence[_Named], cells: Callable[[_Named], Row]
) -> tuple[Sequence[Row], Sequence[str]]:
    rows = [checked({"series": one.name, **cells(one)}) for one in several]
    return rows, [line(row) for row in rows]


def _paths(given: SeriesSet, options: Options, notes: list[str]) -> list[Path]:
    for one in given.series:
        notes += questions_of(one, options)
    return [path_of(one, options.kind) for one in given.series]


def _check_kind(measure: ReturnMeasure, options: Options) -> None:
    if options.unit is ReturnUnit.PERCENT and options.kind is not SeriesKind.RETURNS:
        raise ValueError('The unit is that of returns: say "kind": "returns" as well.')
    deviation = ReturnMeasure.STANDARD_DEVIATION
    if options.kind is SeriesKind.VALUES and not (measure is deviation or measure.is_of_payments):
        raise ValueError(
            f"Of the kind 'values' there is only {deviation}. Say 'prices' or 'returns' for"
            f" {measure}."
        )


def _deviation(series: Series, notes: list[str]) -> Row:
    found = formulas.deviation(series.values)
    if found is None:
        notes.append(f"No standard deviation of {series.name!r}: it needs two values.")
    notes.append("It is the standard deviation of a sample (n - 1), of the values as given.")
    return {"deviation_of_values": found}


_OfOne: TypeAlias = Callable[[Path, Options, list[str]], Row]
_AtEachPoint: TypeAlias = Callable[[Path, Options, list[str]], Points]
_Between: TypeAlias = Callable[
    [Sequence[Path], Options, list[str]], tuple[Sequence[Row], Sequence[str]]
]

_OF_ONE: Mapping[ReturnMeasure, _OfOne] = {
    ReturnMeasure.SUMMARY: single.summary,
    ReturnMeasure.TOTAL_RETURN: single.total_return,
    ReturnMeasure.ANNUALISED_RETURN: single.annualised_return,
    ReturnMeasure.CAGR: single.cagr,
    ReturnMeasure.VOLATILITY: single.volatility,
    ReturnMeasure.SHARPE: single.sharpe,
    ReturnMeasure.MAX_DRAWDOWN: single.max_drawdown,
    ReturnMeasure.STANDARD_DEVIATION: losses.standard_deviation,
    ReturnMeasure.SORTINO: losses.sortino,
    ReturnMeasure.CALMAR: losses.calmar,
    ReturnMeasure.VALUE_AT_RISK: losses.value_at_risk,
}
_OF_PAYMENTS: Mapping[ReturnMeasure, Callable[[Series, Options, list[str]], Row]] = {
    ReturnMeasure.IRR: payments.irr,
    ReturnMeasure.XIRR: payments.xirr,
}
_AT_EACH_POINT: Mapping[ReturnMeasure, _AtEachPoint] = {
    ReturnMeasure.RETURNS: pointwise.returns,
    ReturnMeasure.LOG_RETURNS: pointwise.log_returns,
    ReturnMeasure.DRAWDOWN: pointwise.drawdown,
    ReturnMeasure.ROLLING_RETURN: pointwise.rolling_return,
    ReturnMeasure.ROLLING_VOLATILITY: pointwise.rolling_volatility,
}
_BETWEEN: Mapping[ReturnMeasure, _Between] = {
    ReturnMeasure.CORRELATION: between.correlation,
    ReturnMeasure.BETA: between.beta,
    ReturnMeasure.TRACKING_ERROR: between.tracking_error,
}
