"""Measures of series: returns, risk, comparisons and rates of payments.

Sources: Bacon, Practical Portfolio Performance Measurement and Attribution (2008) for the ratios;
Microsoft's description of PERCENTILE.INC for the quantile of value at risk. The downside deviation
is over all returns, not only over those that fall short.
"""

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from copilot_admin.agent.toolkits.returns.dates import (
    DAYS_PER_YEAR,
)
from copilot_admin.agent.toolkits.returns.formatting import (
    Cell,
    Points,
    Row,
    describe_points,
    describe_row,
    format_number,
    format_percent,
    free_name,
    round_row,
    table_of,
)
from copilot_admin.agent.toolkits.returns.options import (
    MeasuredSeries,
    Options,
    ReturnMeasure,
    ReturnUnit,
    SeriesKind,
    split_options,
)
from copilot_admin.agent.toolkits.returns.paths import ROUNDING, Path, align, standard_deviation
from copilot_admin.agent.toolkits.returns.payments import measure_payments
from copilot_admin.agent.toolkits.returns.series import SeriesSet, label, read_series

RowsAndLines: TypeAlias = tuple[Sequence[Row], Sequence[str]]


def measure_series(
    series: object, measure: str, *, settings: Mapping[str, Any] | None = None
) -> MeasuredSeries:
    """Measure series of values.

    Args:
        series: A list of numbers; rows with a date and columns of numbers; an object of several
            named series; or JSON or CSV text of one of them. `{"values": <any of these>, ...}`
            adds options, see `Options`.
        measure: One of `ReturnMeasure`.
        settings: Options for what `series` leaves out.

    Raises:
        ValueError: The series can't be read or measured; the text says what would be right.

    Examples:
        >>> measure_series([100, 110, 99], "total_return").rows
        ({'series': 'series', 'total_return': -0.01},)
        >>> quarters = [{"date": "2024-03-31", "A": 100}, {"date": "2024-06-30", "A": 110}]
        >>> measure_series(quarters, "annualised_return").lines
        ('A: annualised return 46.41%',)
    """
    if measure not in list(ReturnMeasure):
        known = ", ".join(ReturnMeasure)
        raise ValueError(f"There is no measure {measure!r}. The measures are: {known}.")
    chosen = ReturnMeasure(measure)
    values, options = split_options(series, settings or {})
    _check_kind(chosen, options)
    try:
        with np.errstate(all="ignore"):
            return _measure(
                chosen,
                read_series(
                    values,
                    day_first=options.day_first,
                    adds_up=chosen.is_of_payments,
                    in_percent=options.unit is ReturnUnit.PERCENT,
                ),
                options,
            )
    except OverflowError:
        raise ValueError(
            "The result is too large for a number. Check the values: some are too far apart."
        ) from None


def _check_kind(measure: ReturnMeasure, options: Options) -> None:
    deviation = ReturnMeasure.STANDARD_DEVIATION
    if options.kind is SeriesKind.VALUES and not (measure is deviation or measure.is_of_payments):
        raise ValueError(
            f"Of the kind 'values' there is only {deviation}. Say 'prices' or 'returns' for"
            f" {measure}."
        )


def _measure(measure: ReturnMeasure, given: SeriesSet, options: Options) -> MeasuredSeries:
    if measure in _BETWEEN:
        given = align(given)
    notes = list(options.questions)
    rows, lines = _rows_and_lines(measure, given, options, notes)
    return MeasuredSeries(
        title=measure.label,
        rows=tuple(map(round_row, rows)),
        lines=tuple(lines),
        notes=tuple(dict.fromkeys((*given.notes, *notes))),
    )


def _rows_and_lines(
    measure: ReturnMeasure, given: SeriesSet, options: Options, notes: list[str]
) -> RowsAndLines:
    if measure.is_of_payments:
        rows = [measure_payments(measure, one, options, notes) for one in given.series]
    elif options.kind is SeriesKind.VALUES:
        rows = [_deviation_of_values(one, notes) for one in given.series]
    else:
        paths = [Path.of(one, given, options, notes) for one in given.series]
        if compare := _BETWEEN.get(measure):
            return compare(paths, notes)
        if at_each_point := _AT_EACH_POINT.get(measure):
            columns = {path.name: at_each_point(path) for path in paths}
            return table_of(columns, is_dated=given.is_dated), describe_points(columns)
        rows = [{"series": path.name, **_OF_ONE[measure](path)} for path in paths]
    rows = [round_row(row) for row in rows]
    return rows, [describe_row(row) for row in rows]


def _deviation_of_values(series: pd.Series, notes: list[str]) -> Row:
    found = standard_deviation(series)
    if found is None:
        notes.append(f"No standard deviation of {series.name!r}: it needs two values.")
    notes.append("It is the standard deviation of a sample (n - 1), of the values as given.")
    return {"series": str(series.name), "deviation_of_values": found}


# --- measures of one series


def _total_return(path: Path) -> Row:
    return {"total_return": float(path.levels[-1] / path.levels[0] - 1)}


def _annualised_return(path: Path) -> Row:
    return {"annualised_return": path.compound_rate(len(path.returns) / path.periods())}


def _cagr(path: Path) -> Row:
    if path.is_dated and path.begin is not None:
        days = (path.returns.index[-1] - path.begin) / pd.Timedelta(days=1)
        return {"cagr": path.compound_rate(days / DAYS_PER_YEAR)}
    return {"cagr": path.compound_rate(len(path.returns) / path.periods())}


def _volatility(path: Path) -> Row:
    periods, spread = path.periods(), standard_deviation(path.returns)
    if spread is None:
        path.notes.append(f"No volatility of {path.name!r}: it needs two returns.")
        return {"volatility": None}
    return {"volatility": spread * sqrt(periods)}


def _standard_deviation(path: Path) -> Row:
    found = standard_deviation(path.returns)
    if found is None:
        path.notes.append(f"No standard deviation of {path.name!r}: it needs two returns.")
    path.notes.append(
        "The standard deviation is that of a sample (n - 1), of the returns of one period;"
        " volatility is the same a year."
    )
    return {"standard_deviation": found}


def _sharpe(path: Path) -> Row:
    rate, spread = path.options.risk_free_rate, standard_deviation(path.returns)
    excess = _excess(path, rate)
    if not spread:
        path.notes.append(f"No Sharpe ratio of {path.name!r}: it needs two returns that differ.")
    path.notes.append(
        f"The Sharpe ratio is over a risk-free rate of {format_percent(rate)} a year."
    )
    return {"sharpe": float(excess.mean()) / spread * sqrt(path.periods()) if spread else None}


def _sortino(path: Path) -> Row:
    target = path.options.target_rate
    excess = _excess(path, target)
    downside = sqrt(float((excess.clip(upper=0) ** 2).mean()))
    has_downside = downside > ROUNDING
    if not has_downside:
        path.notes.append(
            f"No Sortino ratio of {path.name!r}: no return falls short of the target."
        )
    path.notes.append(
        f"The Sortino ratio is over a target of {format_percent(target)} a year; its downside"
        " deviation is over all returns."
    )
    ratio = float(excess.mean()) / downside * sqrt(path.periods()) if has_downside else None
    return {"sortino": ratio}


def _excess(path: Path, rate: float) -> pd.Series:
    return path.returns - ((1 + rate) ** (1 / path.periods()) - 1)


def _calmar(path: Path) -> Row:
    rate = path.compound_rate(len(path.returns) / path.periods())
    depth = float(_drawdowns(path.levels).min())
    if depth >= 0:
        path.notes.append(f"No Calmar ratio of {path.name!r}: it never falls.")
    path.notes.append("The Calmar ratio is over the whole series; it is often told of three years.")
    return {"calmar": rate / -depth if depth < 0 else None}


def _value_at_risk(path: Path) -> Row:
    share = path.options.confidence
    path.notes.append(
        f"Value at risk is the loss of one period that {share * 100:.4g}% of the returns did not"
        " exceed: historical, on the line between two returns (as PERCENTILE.INC). Below zero it is"
        " a gain."
    )
    if len(path.returns) * (1 - share) < 1:
        path.notes.append(
            f"{path.name!r} has {len(path.returns)} returns: too few to see one beyond that loss."
        )
    return {"value_at_risk": -float(path.returns.quantile(1 - share)) + 0.0, "confidence": share}


def _max_drawdown(path: Path) -> Row:
    depths = _drawdowns(path.levels)
    trough = int(depths.argmin())
    if depths[trough] >= 0:
        return {"max_drawdown": 0.0, "peak": None, "trough": None, "recovery": None}
    highest = path.levels[:trough].max()
    peak = int(np.flatnonzero(path.levels[:trough] == highest)[-1])
    recovered = np.flatnonzero(path.levels[trough:] >= highest)
    return {
        "max_drawdown": float(depths[trough]),
        "peak": path.when(peak),
        "trough": path.when(trough),
        "recovery": path.when(trough + int(recovered[0])) if len(recovered) else None,
    }


def _summary(path: Path) -> Row:
    row: dict[str, Cell] = {
        "begin": path.when(0),
        "end": path.when(len(path.returns)),
        "returns": len(path.returns),
    }
    for measure in (_total_return, _annualised_return, _volatility, _sharpe, _max_drawdown):
        row |= measure(path)
    return row


# --- measures at each point


def _drawdowns(levels: "np.ndarray[Any, np.dtype[np.float64]]") -> Any:
    return levels / np.maximum.accumulate(levels) - 1


def _returns(path: Path) -> Points:
    return path.points(path.returns)


def _log_returns(path: Path) -> Points:
    lost = path.returns[path.returns == -1]
    if len(lost):
        raise ValueError(
            f"{path.name!r} loses everything at {label(lost.index[0])}: no log return is that."
        )
    return path.points(np.log1p(path.returns))


def _drawdown(path: Path) -> Points:
    return path.points(_drawdowns(path.levels)[1:])


def _rolling_return(path: Path) -> Points:
    window = _window(path)
    lost = np.flatnonzero(path.levels[:-1] == 0)
    if len(lost):
        raise ValueError(
            f"{path.name!r} loses everything at {path.when(int(lost[0]))}: nothing returns from"
            " there."
        )
    return path.points(path.levels[window:] / path.levels[:-window] - 1, skip=window - 1)


def _rolling_volatility(path: Path) -> Points:
    window = _window(path)
    windows = np.lib.stride_tricks.sliding_window_view(path.returns.to_numpy(), window)
    return path.points(windows.std(axis=1, ddof=1) * sqrt(path.periods()), skip=window - 1)


def _window(path: Path) -> int:
    window, count = path.options.window, len(path.returns)
    if window > count:
        raise ValueError(
            f"{path.name!r} has {count} returns, fewer than the window of {window}. Give more, or"
            ' say {"values": ..., "window": ...}.'
        )
    path.notes.append(f"Each value is of the {window} returns up to it.")
    return window


# --- measures between series


def _correlation(paths: Sequence[Path], notes: list[str]) -> RowsAndLines:
    notes.append(f"Common returns: {len(paths[0].returns)}.")
    matrix = pd.DataFrame({path.name: path.returns for path in paths}).corr()
    for path in paths:
        if not standard_deviation(path.returns):
            matrix.loc[path.name, :] = matrix.loc[:, path.name] = np.nan
            notes.append(f"No correlation with {path.name!r}: its returns do not vary.")
    head = free_name("series", list(matrix))
    rows = [
        {head: name, **{other: None if pd.isna(one) else float(one) for other, one in row.items()}}
        for name, row in matrix.iterrows()
    ]
    lines = [
        f"{row[head]} and {other}: {_plain(row[str(other)])}"
        for place, row in enumerate(rows)
        for other in list(matrix)[place + 1 :]
    ]
    return rows, lines


def _against_benchmark(
    name: str,
    compare: Callable[[Path, Path], float | None],
    paths: Sequence[Path],
    notes: list[str],
) -> RowsAndLines:
    notes.append(f"Common returns: {len(paths[0].returns)}.")
    benchmark = _find_benchmark(paths, notes)
    others = [path for path in paths if path is not benchmark]
    rows: list[Row] = [
        {"series": path.name, name: compare(path, benchmark), "benchmark": benchmark.name}
        for path in others
    ]
    return rows, [describe_row(row) for row in rows]


def _beta(paths: Sequence[Path], notes: list[str]) -> RowsAndLines:
    rows, _ = _against_benchmark("beta", _beta_of, paths, notes)
    if rows[0]["beta"] is None:
        notes.append(f"No beta: the returns of {rows[0]['benchmark']!r} do not vary.")
    return rows, [
        f"{row['series']}: beta {_plain(row['beta'])} to {row['benchmark']}" for row in rows
    ]


def _beta_of(path: Path, benchmark: Path) -> float | None:
    spread = standard_deviation(benchmark.returns)
    return float(path.returns.cov(benchmark.returns)) / spread**2 if spread else None


def _tracking_error(paths: Sequence[Path], notes: list[str]) -> RowsAndLines:
    rows, lines = _against_benchmark("tracking_error", _tracking_error_of, paths, notes)
    if rows[0]["tracking_error"] is None:
        notes.append("No tracking error: it needs two common returns.")
    notes.append("It is the standard deviation of a sample (n - 1) of the differences, a year.")
    return rows, lines


def _tracking_error_of(path: Path, benchmark: Path) -> float | None:
    periods, spread = benchmark.periods(), standard_deviation(path.returns - benchmark.returns)
    return None if spread is None else spread * sqrt(periods)


def _find_benchmark(paths: Sequence[Path], notes: list[str]) -> Path:
    name = paths[0].options.benchmark.strip()
    if not name:
        notes.append(f"No benchmark was named: it is {paths[-1].name!r}, the last series.")
        return paths[-1]
    for path in paths:
        if path.name.lower() == name.lower():
            return path
    known = ", ".join(path.name for path in paths)
    raise ValueError(f"There is no series {name!r} for the benchmark. The series are: {known}.")


def _plain(value: Cell) -> str:
    return format_number(value) if isinstance(value, float) else "none"


_OF_ONE: Mapping[ReturnMeasure, Callable[[Path], Row]] = {
    ReturnMeasure.SUMMARY: _summary,
    ReturnMeasure.TOTAL_RETURN: _total_return,
    ReturnMeasure.ANNUALISED_RETURN: _annualised_return,
    ReturnMeasure.CAGR: _cagr,
    ReturnMeasure.VOLATILITY: _volatility,
    ReturnMeasure.SHARPE: _sharpe,
    ReturnMeasure.MAX_DRAWDOWN: _max_drawdown,
    ReturnMeasure.STANDARD_DEVIATION: _standard_deviation,
    ReturnMeasure.SORTINO: _sortino,
    ReturnMeasure.CALMAR: _calmar,
    ReturnMeasure.VALUE_AT_RISK: _value_at_risk,
}
_AT_EACH_POINT: Mapping[ReturnMeasure, Callable[[Path], Points]] = {
    ReturnMeasure.RETURNS: _returns,
    ReturnMeasure.LOG_RETURNS: _log_returns,
    ReturnMeasure.DRAWDOWN: _drawdown,
    ReturnMeasure.ROLLING_RETURN: _rolling_return,
    ReturnMeasure.ROLLING_VOLATILITY: _rolling_volatility,
}
_BETWEEN: Mapping[ReturnMeasure, Callable[[Sequence[Path], list[str]], RowsAndLines]] = {
    ReturnMeasure.CORRELATION: _correlation,
    ReturnMeasure.BETA: _beta,
    ReturnMeasure.TRACKING_ERROR: _tracking_error,
}
