"""Returns, risk and rates of return of series; notes report assumptions."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from copilot_admin.agent.toolkits.returns.growth import (
    ROUNDING,
    Growth,
    Row,
    align,
    describe_points,
    describe_row,
    format_number,
    format_percent,
    free_name,
    round_row,
    standard_deviation,
)
from copilot_admin.agent.toolkits.returns.options import (
    MeasuredSeries,
    Options,
    ReturnMeasure,
    SeriesKind,
    split_options,
)
from copilot_admin.agent.toolkits.returns.payments import payments_row
from copilot_admin.agent.toolkits.returns.series import DAYS_PER_YEAR, label, read_series

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
    if measure not in list(ReturnMeasure):
        known = ", ".join(ReturnMeasure)
        raise ValueError(f"There is no measure {measure!r}. The measures are: {known}.")
    chosen = ReturnMeasure(measure)
    values, options = split_options(series, settings or {})
    is_of_values = chosen.is_of_payments or chosen is ReturnMeasure.STANDARD_DEVIATION
    if options.kind is SeriesKind.VALUES and not is_of_values:
        raise ValueError(
            "Of the kind 'values' there is only standard_deviation. Say 'prices' or 'returns' for"
            f" {measure}."
        )
    notes: list[str] = []
    series = read_series(values, options, notes, adds_up=chosen.is_of_payments)
    try:
        with np.errstate(all="ignore"):
            rows, lines = _measure(chosen, series, options, notes)
            rounded = tuple(map(round_row, rows))
    except OverflowError:
        raise ValueError(
            "The result is too large for a number. Check the values: some are too far apart."
        ) from None
    return MeasuredSeries(chosen.label, rounded, tuple(lines), tuple(dict.fromkeys(notes)))


def _measure(
    measure: ReturnMeasure, series: Sequence[pd.Series], options: Options, notes: list[str]
) -> RowsAndLines:
    is_between = measure in _BETWEEN or measure is ReturnMeasure.CORRELATION
    if measure.is_of_payments:
        rows = [payments_row(measure, one, options, notes) for one in series]
    elif options.kind is SeriesKind.VALUES:
        rows = [
            {"series": str(one.name), "deviation_of_values": standard_deviation(one.dropna())}
            for one in series
        ]
    else:
        aligned = align(series, notes) if is_between else series
        several = [Growth.of(one, options, notes) for one in aligned]
        if is_between:
            notes.append(f"Common returns: {len(several[0].returns)}.")
        if measure is ReturnMeasure.CORRELATION:
            return _correlation(several)
        if at_each_point := _AT_EACH_POINT.get(measure):
            columns = [at_each_point(one).rename(one.name) for one in several]
            return _table_of(columns), describe_points(columns)
        if compare := _BETWEEN.get(measure):
            benchmark = _find_benchmark(several)
            others = (one for one in several if one is not benchmark)
            rows = [
                {
                    "series": one.name,
                    measure.value: compare(one, benchmark),
                    "benchmark": benchmark.name,
                }
                for one in others
            ]
        else:
            rows = [{"series": one.name, **_OF_ONE[measure](one)} for one in several]
    rows = [round_row(row) for row in rows]
    for row in rows:
        missing = (reason for name, reason in _REASONS.items() if row.get(name, 0) is None)
        notes += [f"None of {row['series']!r}: {reason}." for reason in missing]
    notes += _CONVENTIONS.get(measure, ())
    return rows, [describe_row(row) for row in rows]


def _table_of(columns: Sequence[pd.Series]) -> list[Row]:
    table = pd.concat(columns, axis=1).sort_index()
    is_dated = isinstance(table.index, pd.DatetimeIndex)
    head = free_name("date" if is_dated else "point", list(table))
    return [
        {head: label(key) if is_dated else key}
        | {name: None if pd.isna(cell) else float(cell) for name, cell in row.items()}
        for key, row in zip(table.index, table.to_dict("records"), strict=True)
    ]


# --- one series


def _total_return(growth: Growth) -> Row:
    return {"total_return": float(growth.levels[-1] / growth.levels[0] - 1)}


def _annualised_return(growth: Growth) -> Row:
    return {"annualised_return": growth.compound_rate()}


def _cagr(growth: Growth) -> Row:
    if isinstance(growth.begin, datetime):
        days = (growth.returns.index[-1] - growth.begin) / pd.Timedelta(days=1)
        return {"cagr": growth.compound_rate(days / DAYS_PER_YEAR)}
    return {"cagr": growth.compound_rate()}


def _volatility(growth: Growth) -> Row:
    periods, spread = growth.periods(), standard_deviation(growth.returns)
    return {"volatility": None if spread is None else spread * sqrt(periods)}


def _standard_deviation(growth: Growth) -> Row:
    return {"standard_deviation": standard_deviation(growth.returns)}


def _sharpe(growth: Growth) -> Row:
    rate, periods = growth.options.risk_free_rate, growth.periods()
    growth.notes.append(
        f"The Sharpe ratio is over a risk-free rate of {format_percent(rate)} a year."
    )
    spread = standard_deviation(growth.returns)
    excess = float(growth.returns.mean()) - _rate_of_period(rate, periods)
    return {"sharpe": excess / spread * sqrt(periods) if spread else None}


def _sortino(growth: Growth) -> Row:
    target = growth.options.target
    target = growth.options.risk_free_rate if target is None else target
    periods = growth.periods()
    excess = growth.returns - _rate_of_period(target, periods)
    downside = sqrt(float((excess.clip(upper=0) ** 2).mean()))
    growth.notes.append(
        f"The Sortino ratio is over a target of {format_percent(target)} a year; its downside"
        " deviation is over all returns."
    )
    ratio = float(excess.mean()) / downside * sqrt(periods) if downside > ROUNDING else None
    return {"sortino": ratio}


def _rate_of_period(rate: float, periods: float) -> float:
    return float((1 + rate) ** (1 / periods) - 1)


def _calmar(growth: Growth) -> Row:
    rate, depth = growth.compound_rate(), float(growth.drawdowns.min())
    return {"calmar": rate / -depth if depth < 0 else None}


def _value_at_risk(growth: Growth) -> Row:
    share, count = growth.options.confidence, len(growth.returns)
    growth.notes.append(
        f"Value at risk is the loss of one period that {share * 100:.4g}% of the returns did not"
        " exceed: historical, on the line between two returns (as PERCENTILE.INC). Below zero it is"
        " a gain."
    )
    if count * (1 - share) < 1:
        growth.notes.append(
            f"{growth.name!r} has {count} returns: too few to see one beyond that loss."
        )
    return {"value_at_risk": -float(growth.returns.quantile(1 - share)) + 0.0, "confidence": share}


def _max_drawdown(growth: Growth) -> Row:
    levels, depths = growth.levels, growth.drawdowns
    trough = int(depths.argmin())
    if depths[trough] >= 0:
        return {"max_drawdown": 0.0, "peak": None, "trough": None, "recovery": None}
    highest = levels[:trough].max()
    peak = int(np.flatnonzero(levels[:trough] == highest)[-1])
    recovered = np.flatnonzero(levels[trough:] >= highest)
    return {
        "max_drawdown": float(depths[trough]),
        "peak": growth.key_of(peak),
        "trough": growth.key_of(trough),
        "recovery": growth.key_of(trough + int(recovered[0])) if len(recovered) else None,
    }


def _summary(growth: Growth) -> Row:
    return {
        "begin": growth.key_of(0),
        "end": growth.key_of(len(growth.returns)),
        "returns": len(growth.returns),
        **_total_return(growth),
        **_annualised_return(growth),
        **_volatility(growth),
        **_sharpe(growth),
        **_max_drawdown(growth),
    }


# --- each point


def _log_returns(growth: Growth) -> pd.Series:
    _check_no_total_loss(growth)
    return np.log1p(growth.returns)


def _drawdown(growth: Growth) -> pd.Series:
    return pd.Series(growth.drawdowns[1:], index=growth.returns.index)


def _rolling_return(growth: Growth) -> pd.Series:
    _check_no_total_loss(growth)
    window, levels = _window(growth), growth.levels
    return pd.Series(levels[window:] / levels[:-window] - 1, growth.returns.index[window - 1 :])


def _rolling_volatility(growth: Growth) -> pd.Series:
    return growth.returns.rolling(_window(growth)).std().dropna() * sqrt(growth.periods())


def _check_no_total_loss(growth: Growth) -> None:
    lost = growth.returns[growth.returns == -1]
    if len(lost):
        raise ValueError(
            f"{growth.name!r} loses everything at {label(lost.index[0])}: that has no log return,"
            " and nothing returns from there."
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
    names = list(matrix)
    head = free_name("series", names)
    cells = {
        name: {other: None if pd.isna(one) else float(one) for other, one in row.items()}
        for name, row in matrix.iterrows()
    }
    lines = [
        f"{name} and {other}: {'none' if (cell := cells[name][other]) is None else format_number(cell)}"
        for place, name in enumerate(names)
        for other in names[place + 1 :]
    ]
    return [{head: name, **row} for name, row in cells.items()], lines


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
_CONVENTIONS = {
    ReturnMeasure.STANDARD_DEVIATION: ("It is that of a sample (n - 1), of one period.",),
    ReturnMeasure.CALMAR: ("The Calmar ratio is over the whole series.",),
    ReturnMeasure.TRACKING_ERROR: (
        "It is the standard deviation of a sample (n - 1) of the differences, a year.",
    ),
}
_OF_ONE: Mapping[ReturnMeasure, Callable[[Growth], Row]] = {
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
_AT_EACH_POINT: Mapping[ReturnMeasure, Callable[[Growth], pd.Series]] = {
    ReturnMeasure.RETURNS: lambda growth: growth.returns,
    ReturnMeasure.LOG_RETURNS: _log_returns,
    ReturnMeasure.DRAWDOWN: _drawdown,
    ReturnMeasure.ROLLING_RETURN: _rolling_return,
    ReturnMeasure.ROLLING_VOLATILITY: _rolling_volatility,
}
_BETWEEN: Mapping[ReturnMeasure, Callable[[Growth, Growth], float | None]] = {
    ReturnMeasure.BETA: _beta,
    ReturnMeasure.TRACKING_ERROR: _tracking_error,
}
