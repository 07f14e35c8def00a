"""Growth of a series of prices or returns, and its description in text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
import pandas as pd

from copilot_admin.agent.toolkits.returns.options import Options
from copilot_admin.agent.toolkits.returns.series import START, TRADING_DAYS, label, periods_per_year
from copilot_admin.agent.toolkits.tables import Cell, Row

MAX_DESCRIBED = 200  # for longer series the model receives the latest values and an outline
DESCRIBED_LATEST = 20
ROUNDING = 1e-14
_PLAIN_NUMBERS = frozenset({"sharpe", "beta", "sortino", "calmar", "deviation_of_values"})
_SAY_PERIODS = 'Say {"values": ..., "periods_per_year": ...}.'


@dataclass(slots=True)
class Growth:
    """The growth of a series, with the options and notes of the call."""

    name: str
    returns: pd.Series  # simple ones by the end of their period; at least one
    levels: pd.Series  # one more than returns; above zero, or zero after a total loss
    points: pd.Index  # of the given values, so without the start if these are returns
    options: Options
    notes: list[str]

    @classmethod
    def of(cls, series: pd.Series, options: Options, notes: list[str]) -> "Growth":
        name, values = str(series.name), series.dropna()
        is_prices = options.kind == "prices"
        _check_values(values, is_prices=is_prices)
        if is_prices:
            levels, returns = values, (values / values.shift() - 1).iloc[1:]
        else:
            if options.unit == "fraction" and (largest := values.max()) >= 1:
                notes.append(
                    f"Are the returns of {name!r} percent? {largest:g} was taken as {largest:.0%}."
                    ' If it is percent, say {"values": ..., "kind": "returns", "unit": "percent"}.'
                )
            levels, returns = pd.concat([pd.Series({START: 1.0}), (1 + values).cumprod()]), values
        if not np.isfinite([*levels, *returns]).all():
            raise OverflowError
        return cls(name, returns, levels, values.index, options, notes)

    @property
    def drawdowns(self) -> pd.Series:
        """Each level relative to the highest one before it."""
        return self.levels / self.levels.cummax() - 1

    @property
    def total_return(self) -> float:
        return float(self.levels.iloc[-1] / self.levels.iloc[0] - 1)

    def periods(self) -> float:
        """Return the number of periods in a year: the caller's, else from the dates, else 252."""
        periods = self.options.periods_per_year
        if periods is None:
            if not isinstance(self.points, pd.DatetimeIndex):
                self.notes.append(
                    f"Without dates, {TRADING_DAYS} periods a year are assumed (trading days)."
                )
                return TRADING_DAYS
            if len(self.points) < 2:
                raise ValueError(
                    f"{self.name!r} is too short to tell how long a period is. {_SAY_PERIODS}"
                )
            periods = periods_per_year(self.points)
        if periods is None:
            raise ValueError(
                f"The points of {self.name!r} are less than a day apart. {_SAY_PERIODS}"
            )
        self.notes.append(f"A year has {format_number(periods)} periods of {self.name!r}.")
        return periods

    def compound_rate(self, years: float | None = None) -> float:
        """Return (P(end) / P(begin)) ^ (1 / years) - 1; by default over the periods."""
        years = len(self.returns) / self.periods() if years is None else years
        if years < 1:
            self.notes.append(
                f"{self.name!r} covers {format_number(years)} years: a return made annual from less"
                " than a year is no forecast."
            )
        return float((self.levels.iloc[-1] / self.levels.iloc[0]) ** (1 / years) - 1)


def _check_values(series: pd.Series, *, is_prices: bool) -> None:
    needed, words = (2, "prices") if is_prices else (1, "returns")
    if len(series) < needed:
        raise ValueError(
            f"{series.name!r} has {len(series)} {words}, after what is missing was left out; at"
            f" least {needed} are needed."
        )
    wrong = series[series <= 0] if is_prices else series[series < -1]
    if wrong.empty:
        return
    advice = (
        "a price must be above zero. If the values are returns, say"
        ' {"values": ..., "kind": "returns"}'
        if is_prices
        else "a simple return cannot be below -1, a total loss. If the values are percent, say"
        ' {"values": ..., "kind": "returns", "unit": "percent"}; 1% as a fraction is 0.01'
    )
    key = label(wrong.index[0])
    raise ValueError(f"{series.name!r} is {wrong.iloc[0]:g} at {key}, but {advice}.")


def align(series: Sequence[pd.Series], notes: list[str]) -> list[pd.Series]:
    """Return the series at their common points."""
    if len(series) < 2:
        raise ValueError('Give at least two series, such as {"A": [1, 2, 3], "B": [4, 5, 6]}.')
    is_dated = isinstance(series[0].index, pd.DatetimeIndex)
    if not is_dated and len({len(one) for one in series}) > 1:
        lengths = ", ".join(f"{one.name} has {len(one)}" for one in series)
        raise ValueError(
            f"Series without dates must have equally many values: {lengths}. Give the values dates,"
            " or null where one is missing."
        )
    common = pd.concat(series, axis=1, join="inner").dropna()
    if common.empty:
        raise ValueError(
            "The series have no date in common. Give each the values of the same dates."
        )
    if len(common) < max(one.count() for one in series):
        notes.append(f"Compared at the {len(common)} points that all series have.")
    return [common[name] for name in common]


def standard_deviation(values: pd.Series) -> float | None:
    """Return a sample's standard deviation: 0 for rounding noise, None below two values."""
    if len(values) < 2:
        return None
    spread = float(values.std())
    return spread if spread > ROUNDING * (1 + abs(float(values.mean()))) else 0.0


# --- text


def format_percent(value: float) -> str:
    """Return a fraction in percent: 12.35%, 0.00123%."""
    if value and abs(value) < 0.0005:
        return f"{value * 100:.3g}%"
    return f"{value:.2%}" if abs(value) < 1e6 else f"{value * 100:.4g}%"


def format_number(value: float) -> str:
    """Return a number to four decimals, without zeros at their end."""
    if abs(value) >= 1e6:
        return f"{value:.4g}"
    return f"{round(value, 4) + 0.0:.4f}".rstrip("0").rstrip(".")


def describe_row(row: Row) -> str:
    """Return a row about one series as a line: fractions in percent, ratios as numbers."""
    cells = []
    for name, cell in row.items():
        text = "none" if cell is None else str(cell)
        if isinstance(cell, float):
            text = format_number(cell) if name in _PLAIN_NUMBERS else format_percent(cell)
        cells.append(f"{name.replace('_', ' ')} {text}")
    return f"{row['series']}: {', '.join(cells[1:])}"


def describe_points(columns: Sequence[pd.Series]) -> list[str]:
    """Return an outline of series of fractions, and their values or the latest of many."""
    lines = []
    is_short = sum(map(len, columns)) <= MAX_DESCRIBED
    for points in columns:
        low, high = points.idxmin(), points.idxmax()
        shown = points if is_short else points[-DESCRIBED_LATEST:]
        values = ", ".join(f"{label(key)} {format_percent(one)}" for key, one in shown.items())
        lines.append(
            f"{points.name}: {len(points)} values from {label(points.index[0])} to"
            f" {label(points.index[-1])}, lowest {format_percent(points[low])} ({label(low)}),"
            f" highest {format_percent(points[high])} ({label(high)}), the last {len(shown)}: {values}"
        )
    return lines


def round_row(row: Mapping[str, Cell]) -> Row:
    """Return a row without the rounding noise of binary fractions."""
    if not all(isfinite(cell) for cell in row.values() if isinstance(cell, float)):
        raise OverflowError
    return {
        name: float(f"{cell:.12g}") if isinstance(cell, float) else cell
        for name, cell in row.items()
    }
