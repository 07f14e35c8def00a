"""Internal rates of return of payments."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyxirr

from copilot_admin.agent.toolkits.returns.dates import periods_per_year
from copilot_admin.agent.toolkits.returns.formatting import (
    Cell,
    Row,
    format_number,
    format_percent,
)
from copilot_admin.agent.toolkits.returns.options import Options, ReturnMeasure

MAX_PAYMENTS = 10_000
_DAYS_PER_YEAR = 365  # as in XIRR
_GRID = np.linspace(np.log(0.001), np.log(1_000), 2_000)  # logarithms of 1 + rate
_BISECTIONS = 80
Array: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"


def measure_payments(
    measure: ReturnMeasure, series: pd.Series, options: Options, notes: list[str]
) -> Row:
    """Return the rate at which payments (paid below zero, received above) are worth nothing.

    Raises:
        ValueError: There is no such rate, or xirr has no dates.
    """
    is_dated = len(series) > 0 and isinstance(series.index[0], datetime)
    if measure is ReturnMeasure.XIRR:
        return _xirr(series, options, notes, is_dated=is_dated)
    return _irr(series, options, notes, is_dated=is_dated)


def _irr(series: pd.Series, options: Options, notes: list[str], *, is_dated: bool) -> Row:
    if is_dated:
        places = np.arange(len(series), dtype=float)
        notes.append(
            "irr takes the time from one date to the next as one period; xirr counts days."
        )
    else:
        places = series.index.to_numpy(dtype=float) - 1
    _check("irr", series)
    regular = np.zeros(int(places[-1]) + 1)
    regular[places.astype(int)] = series.to_numpy()
    row = _row(
        "irr", series, places, options, notes, lambda guess: pyxirr.irr(regular, guess=guess)
    )
    known = options.periods_per_year
    if known is None and is_dated and len(series) > 1:
        known = periods_per_year(list(series.index))
    if known is None or known == 1:
        notes.append("irr is the rate of one period, the time from one payment to the next.")
        return row
    notes.append(f"A year has {format_number(known)} periods of {series.name!r}.")
    return {**row, "irr_a_year": (1 + float(str(row["irr"]))) ** known - 1}


def _xirr(series: pd.Series, options: Options, notes: list[str], *, is_dated: bool) -> Row:
    if not is_dated:
        raise ValueError(
            'xirr needs dates: give [{"date": "2024-01-31", "value": -1000}, ...], or take irr for'
            " payments at equal intervals."
        )
    series = series.groupby(series.index.normalize()).sum().rename(series.name)
    if len(series) < 2:
        raise ValueError(f"{series.name!r} has no xirr: it needs payments on at least two dates.")
    _check("xirr", series)
    notes.append("xirr is a rate a year, of 365 days.")
    dates: Sequence[datetime] = list(series.index.to_pydatetime())
    years = ((series.index - series.index[0]) / pd.Timedelta(days=_DAYS_PER_YEAR)).to_numpy(float)
    amounts = series.to_numpy()
    return _row(
        "xirr",
        series,
        years,
        options,
        notes,
        lambda guess: pyxirr.xirr(dates, amounts, guess=guess),
    )


def _check(name: str, series: pd.Series) -> None:
    if len(series) > MAX_PAYMENTS:
        raise ValueError(f"{series.name!r} has more than {MAX_PAYMENTS:,} payments. Send fewer.")
    if not ((series > 0).any() and (series < 0).any()):
        raise ValueError(
            f"{series.name!r} has no {name}: it needs at least one payment below zero (paid) and one"
            " above zero (received)."
        )


def _row(
    name: str,
    series: pd.Series,
    times: Array,
    options: Options,
    notes: list[str],
    solve: Callable[[float], float | None],
) -> dict[str, Cell]:
    amounts = series.to_numpy()
    signs = np.sign(amounts[amounts != 0])
    changes = int((signs[1:] != signs[:-1]).sum())
    rates = _rates_on_grid(amounts, times) if changes > 1 else []
    if len(rates) < 2:
        found = solve(options.guess)
        rates = [found] if found is not None else rates
    if not rates:
        raise ValueError(
            f"{series.name!r} has no {name}: at no rate are its payments worth nothing together."
        )
    nearest = min(
        rates, key=lambda rate: abs(np.log1p(max(rate, -0.999)) - np.log1p(options.guess))
    )
    row: dict[str, Cell] = {"series": str(series.name), name: float(nearest)}
    if len(rates) > 1:
        row["all_rates"] = ", ".join(map(format_percent, rates))
        notes.append(
            f"{series.name!r} has {len(rates)} rates, since its payments change sign more than once:"
            f" {row['all_rates']}. None of them is the return by itself; {format_percent(nearest)}"
            f" is the nearest to the guess of {format_percent(options.guess)}."
        )
    return row


def _rates_on_grid(amounts: Array, times: Array) -> list[float]:
    """Return every rate between -99.9 % and 99,900 % at which the present value changes its sign."""

    def value(growth: Array) -> Array:
        exponents = -np.outer(growth, times)
        weights = np.exp(exponents - exponents.max(axis=1, keepdims=True))
        found: Array = weights @ amounts
        return found

    grid = _GRID if len(times) <= 500 else _GRID[::20]
    values = value(grid)
    places = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) <= 0)
    low, high = grid[places], grid[places + 1]
    is_positive = values[places] > 0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        is_low = (value(middle) > 0) == is_positive
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return [float(rate) for rate in np.unique(np.round(np.expm1(low), 12))]
