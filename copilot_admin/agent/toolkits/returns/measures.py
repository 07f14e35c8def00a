"""Returns, risk and rates of return of series; notes report assumptions."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from copilot_admin.agent.toolkits.returns.growth import (
    ROUNDING,
    Growth,
    align,
    describe_points,
    describe_row,
    format_number,
    format_percent,
    round_row,
    standard_deviation,
)
from copilot_admin.agent.toolkits.returns.options import (
    MEASURES,
    OF_PAYMENTS,
    MeasuredSeries,
    Options,
    split_options,
)
from copilot_admin.agent.toolkits.returns.payments import payments_row
from copilot_admin.agent.toolkits.returns.series import DAYS_PER_YEAR, label, read_series
from copilot_admin.agent.toolkits.tables import Row

RowsAndLines: TypeAlias = tuple[Sequence[Row], Sequence[str]]
_REASONS = {  # for undefined results
    "volatility": "volatility needs two returns",
    "standard_deviation": "a standard deviation needs two returns",
    "deviation_of_values": "a standard deviation needs two values",
    "sharpe": "the Sharpe ratio needs two returns that differ",
    "sortino": "no return falls short of the target",
    "calmar": "it never falls",
    "beta": "the returns of the benchmark do not vary",
    "tracking_error": "a tracking error needs two common returns",
}


def measure_series(
    series: object, measure: str, *, settings: Mapping[str, Any] | None = None
) -> MeasuredSeries:
    """Measure series of values.

    Args:
        series: A list of numbers; rows with a date and columns of numbers; an object of several
            named series; or JSON or CSV text of one of them. `{"values": <any of these>, ...}`
            adds options, see `Options`.
        measure: One of `MEASURES`.
        settings: Options that `series` may override.

    Raises:
        ValueError: The series can't be read or measured; the text describes valid input.

    Examples:
        >>> measure_series([100, 110, 99], "total_return").rows
        ({'series': 'series', 'total_return': -0.01},)
        >>> quarters = [{"date": "2024-03-31", "A": 100}, {"date": "2024-06-30", "A": 110}]
        >>> measure_series(quarters, "annualised_return").lines
        ('A: annualised return 46.41%',)
    """
    if measure not in MEASURES:
        raise ValueError(
            f"There is no measure {measure!r}. The measures are: {', '.join(MEASURES)}."
        )
    values, options = split_options(series, settings or {})
    if options.kind == "values" and measure not in (*OF_PAYMENTS, "standard_deviation"):
        raise ValueError(
            "Of the kind 'values' there is only standard_deviation. Say 'prices' or 'returns' for"
            f" {measure}."
        )
    notes: list[str] = []
    series = read_series(values, options, notes, adds_up=measure in OF_PAYMENTS)
    try:
        with np.errstate(all="ignore"):
            found, lines = _measure(measure, series, options, notes)
        rows = tuple(map(round_row, found))
    except OverflowError:
        raise ValueError(
            "The result is too large for a number. Check the values: some are too far apart."
        ) from None
    title = measure.upper() if measure in OF_PAYMENTS else measure.replace("_", " ").capitalize()
    lines = lines or [describe_row(row) for row in rows]
    return MeasuredSeries(title, rows, tuple(lines), tuple(dict.fromkeys(notes)))


def _measure(
    measure: str, series: Sequence[pd.Series], options: Options, notes: list[str]
) -> RowsAndLines:
    is_between = measure in _BETWEEN or measure == "correlation"
    several: list[Growth] = []
    if measure not in OF_PAYMENTS and options.kind != "values":
        aligned = align(series, notes) if is_between else series
        several = [Growth.of(one, options, notes) for one in aligned]
    if is_between:
        notes.append(f"Common returns: {len(several[0].returns)}.")
    if measure == "correlation":
        return _correlation(several)
    if at_each_point := _AT_EACH_POINT.get(measure):
        columns = [at_each_point(one).rename(one.name) for one in several]
        table = pd.concat(columns, axis=1).sort_index()
        is_dated = isinstance(table.index, pd.DatetimeIndex)
        if is_dated:
            table.index = table.index.map(label)
        return _rows_of(table, "date" if is_dated else "point"), describe_points(columns)
    rows: list[Row]
    if measure in OF_PAYMENTS:
        rows = [payments_row(measure, one, options, notes) for one in series]
    elif options.kind == "values":
        rows = [
            {"series": one.name, "deviation_of_values": standard_deviation(one.dropna())}
            for one in series
        ]
    elif compare := _BETWEEN.get(measure):
        benchmark = _find_benchmark(several)
        rows = [
            {"series": one.name, measure: compare(one, benchmark), "benchmark": benchmark.name}
            for one in several
            if one is not benchmark
        ]
    else:
        found = [_OF_ONE[measure](one) for one in several]
        rows = [
            {"series": one.name, **(cells if isinstance(cells, Mapping) else {measure: cells})}
            for one, cells in zip(several, found, strict=True)
        ]
    for row in rows:
        missing = (reason for name, reason in _REASONS.items() if row.get(name, 0) is None)
        notes += [f"None of {row['series']!r}: {reason}." for reason in missing]
    return rows, ()


def _rows_of(table: pd.DataFrame, head: str) -> list[Row]:
    """Return the rows of a table with its index under a name that no column has."""
    while head in table:
        head += "_"
    cells = table.astype(object).where(table.notna(), None)
    rows: list[Row] = cells.reset_index(names=head).to_dict("records")
    return rows


# --- one series


def _cagr(growth: Growth) -> float:
    points = growth.points
    if growth.options.kind != "prices" or not isinstance(points, pd.DatetimeIndex):
        return growth.compound_rate()
    days = (points[-1] - points[0]) / pd.Timedelta(days=1)
    return growth.compound_rate(days / DAYS_PER_YEAR)


def _volatility(growth: Growth) -> float | None:
    periods, spread = growth.periods(), standard_deviation(growth.returns)
    return None if spread is None else spread * sqrt(periods)


def _sharpe(growth: Growth) -> float | None:
    rate, periods = growth.options.risk_free_rate, growth.periods()
    growth.notes.append(
        f"The Sharpe ratio is over a risk-free rate of {format_percent(rate)} a year."
    )
    spread = standard_deviation(growth.returns)
    excess = float(growth.returns.mean()) - _rate_of_period(rate, periods)
    return excess / spread * sqrt(periods) if spread else None


def _sortino(growth: Growth) -> float | None:
    target = growth.options.target
    target = growth.options.risk_free_rate if target is None else target
    periods = growth.periods()
    excess = growth.returns - _rate_of_period(target, periods)
    downside = sqrt(float((excess.clip(upper=0) ** 2).mean()))
    growth.notes.append(f"The Sortino ratio is over a target of {format_percent(target)} a year.")
    return float(excess.mean()) / downside * sqrt(periods) if downside > ROUNDING else None


def _rate_of_period(rate: float, periods: float) -> float:
    return float((1 + rate) ** (1 / periods) - 1)


def _calmar(growth: Growth) -> float | None:
    rate, depth = growth.compound_rate(), float(growth.drawdowns.min())
    return rate / -depth if depth < 0 else None


def _value_at_risk(growth: Growth) -> Row:
    share, count = growth.options.confidence, len(growth.returns)
    growth.notes.append("Value at risk is the loss of one period; below zero it is a gain.")
    if count * (1 - share) < 1:
        growth.notes.append(
            f"{growth.name!r} has {count} returns: too few to see one beyond that loss."
        )
    return {"value_at_risk": -float(growth.returns.quantile(1 - share)) + 0.0, "confidence": share}


def _max_drawdown(growth: Growth) -> Row:
    levels, depths = growth.levels, growth.drawdowns
    trough = int(depths.argmin())
    if depths.iloc[trough] >= 0:
        return {"max_drawdown": 0.0, "peak": None, "trough": None, "recovery": None}
    before, after = levels.iloc[:trough], levels.iloc[trough:]
    recovered = after[after >= before.max()]
    return {
        "max_drawdown": float(depths.iloc[trough]),
        "peak": label(before[before == before.max()].index[-1]),
        "trough": label(levels.index[trough]),
        "recovery": label(recovered.index[0]) if len(recovered) else None,
    }


def _summary(growth: Growth) -> Row:
    return {
        "begin": label(growth.levels.index[0]),
        "end": label(growth.levels.index[-1]),
        "returns": len(growth.returns),
        "total_return": growth.total_return,
        "annualised_return": growth.compound_rate(),
        "volatility": _volatility(growth),
        "sharpe": _sharpe(growth),
        **_max_drawdown(growth),
    }


# --- each point


def _log_returns(growth: Growth) -> pd.Series:
    _check_no_total_loss(growth)
    return np.log1p(growth.returns)


def _rolling_return(growth: Growth) -> pd.Series:
    _check_no_total_loss(growth)
    window, levels = _window(growth), growth.levels
    rolling = (levels / levels.shift(window) - 1).iloc[window:]
    return rolling.set_axis(growth.returns.index[window - 1 :])


def _rolling_volatility(growth: Growth) -> pd.Series:
    return growth.returns.rolling(_window(growth)).std().dropna() * sqrt(growth.periods())


def _check_no_total_loss(growth: Growth) -> None:
    lost = growth.returns[growth.returns == -1]
    if len(lost):
        raise ValueError(
            f"{growth.name!r} loses everything at {label(lost.index[0])}: nothing returns from there."
        )


def _window(growth: Growth) -> int:
    window, count = growth.options.window, len(growth.returns)
    if window > count:
        raise ValueError(
            f"{growth.name!r} has {count} returns, fewer than the window of {window}. Give more, or"
            ' say {"values": ..., "window": ...}.'
        )
    growth.notes.append(f"Each value is of the {window} returns up to it.")
    return window


# --- several series


def _correlation(several: Sequence[Growth]) -> RowsAndLines:
    matrix = pd.DataFrame({one.name: one.returns for one in several}).corr()
    for one in several:
        if not standard_deviation(one.returns):
            matrix.loc[one.name, :] = matrix.loc[:, one.name] = np.nan
            one.notes.append(f"No correlation with {one.name!r}: its returns do not vary.")
    lines = [
        f"{name} and {other}: {'none' if pd.isna(cell) else format_number(cell)}"
        for name, other in combinations(matrix, 2)
        for cell in [matrix.loc[name, other]]
    ]
    return _rows_of(matrix, "series"), lines


def _beta(growth: Growth, benchmark: Growth) -> float | None:
    spread = standard_deviation(benchmark.returns)
    return float(growth.returns.cov(benchmark.returns)) / spread**2 if spread else None


def _tracking_error(growth: Growth, benchmark: Growth) -> float | None:
    periods = benchmark.periods()
    spread = standard_deviation(growth.returns - benchmark.returns)
    return None if spread is None else spread * sqrt(periods)


def _find_benchmark(several: Sequence[Growth]) -> Growth:
    wanted = several[0].options.benchmark.strip()
    if not wanted:
        last = several[-1]
        last.notes.append(f"No benchmark was named: it is {last.name!r}, the last series.")
        return last
    benchmark = next((one for one in several if one.name.lower() == wanted.lower()), None)
    if benchmark is None:
        known = ", ".join(one.name for one in several)
        raise ValueError(
            f"There is no series {wanted!r} for the benchmark. The series are: {known}."
        )
    return benchmark


_OF_ONE: Mapping[str, Callable[[Growth], Row | float | None]] = {
    "summary": _summary,
    "total_return": lambda growth: growth.total_return,
    "annualised_return": lambda growth: growth.compound_rate(),
    "cagr": _cagr,
    "volatility": _volatility,
    "sharpe": _sharpe,
    "max_drawdown": _max_drawdown,
    "standard_deviation": lambda growth: standard_deviation(growth.returns),
    "sortino": _sortino,
    "calmar": _calmar,
    "value_at_risk": _value_at_risk,
}
_AT_EACH_POINT: Mapping[str, Callable[[Growth], pd.Series]] = {
    "returns": lambda growth: growth.returns,
    "log_returns": _log_returns,
    "drawdown": lambda growth: growth.drawdowns.iloc[1:].set_axis(growth.returns.index),
    "rolling_return": _rolling_return,
    "rolling_volatility": _rolling_volatility,
}
_BETWEEN: Mapping[str, Callable[[Growth, Growth], float | None]] = {
    "beta": _beta,
    "tracking_error": _tracking_error,
}
