"""Internal rates of return of payments."""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyxirr

from copilot_admin.agent.toolkits.returns.growth import format_number, format_percent
from copilot_admin.agent.toolkits.returns.options import Options
from copilot_admin.agent.toolkits.returns.series import periods_per_year
from copilot_admin.agent.toolkits.tables import Cell

Array: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
_RATES = np.expm1(np.linspace(np.log(0.01), np.log(100), 500))  # -99 % to 9,900 %


def payments_row(
    measure: str, series: pd.Series, options: Options, notes: list[str]
) -> dict[str, Cell]:
    """Return the rate at which the present value of payments (negative) and receipts is zero."""
    name, paid = str(series.name), series.fillna(0)
    if not ((paid > 0).any() and (paid < 0).any()):
        raise ValueError(
            f"{name!r} has no {measure}: it needs at least one payment below zero (paid) and one"
            " above zero (received)."
        )
    if measure == "xirr":
        if not isinstance(paid.index, pd.DatetimeIndex):
            raise ValueError(
                'xirr needs dates: give [{"date": "2024-01-31", "value": -1000}, ...], or take irr'
                " for payments at equal intervals."
            )
        paid = paid.groupby(paid.index.normalize()).sum()
        if len(paid) < 2:
            raise ValueError(f"{name!r} has no xirr: it needs payments on at least two dates.")
        notes.append("xirr is a rate a year, of 365 days.")
        times = ((paid.index - paid.index[0]) / pd.Timedelta(days=365)).to_numpy(float)
    else:
        times = np.arange(len(paid), dtype=float)
    rates = _find_rates(measure, paid.to_numpy(), times, options.guess)
    if not rates:
        raise ValueError(
            f"{name!r} has no {measure}: at no rate are its payments worth nothing together."
        )
    nearest = min(rates, key=lambda rate: abs(rate - options.guess))
    row: dict[str, Cell] = {"series": name, measure: nearest}
    if len(rates) > 1:
        row["all_rates"] = ", ".join(map(format_percent, rates))
        notes.append(
            f"{name!r} has {len(rates)} rates, since its payments change sign more than once:"
            f" {row['all_rates']}. None of them is the return by itself; {format_percent(nearest)}"
            f" is the nearest to the guess of {format_percent(options.guess)}."
        )
    if measure == "irr" and (periods := _periods_per_year(series, options, notes)):
        row["irr_a_year"] = (1 + nearest) ** periods - 1
    return row


def _periods_per_year(series: pd.Series, options: Options, notes: list[str]) -> float | None:
    periods = options.periods_per_year
    if isinstance(series.index, pd.DatetimeIndex):
        notes.append(
            "irr takes the time from one date to the next as one period; xirr counts days."
        )
        periods = periods_per_year(series.index) if periods is None else periods
    if periods is None or periods == 1:
        notes.append("irr is the rate of one period, the time from one payment to the next.")
        return None
    notes.append(f"A year has {format_number(periods)} periods of {series.name!r}.")
    return periods


def _find_rates(measure: str, amounts: Array, times: Array, guess: float) -> list[float]:
    def find_roots(rates: Array, refinements: int) -> Iterator[float]:
        values = ((1 + rates[:, None]) ** -times) @ amounts
        for place in np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) <= 0):
            low, high = rates[place : place + 2]
            if refinements:
                yield from find_roots(np.linspace(low, high, len(_RATES)), refinements - 1)
            else:
                yield float(low + high) / 2

    rates: list[float] = []
    if not pyxirr.is_conventional_cash_flow(amounts):
        rates = sorted({round(rate, 9) for rate in find_roots(_RATES, 3)})
    if len(rates) > 1:
        return rates
    if measure == "irr":
        found = pyxirr.irr(amounts, guess=guess)
    else:
        days = pd.Timestamp("2000-01-01") + pd.to_timedelta(times * 365, unit="D")
        found = pyxirr.xirr(days, amounts, guess=guess)
    return rates if found is None else [found]
