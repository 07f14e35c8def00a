"""Series of prices or returns as they grow: levels, returns, and periods in a year."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from copilot_admin.agent.toolkits.returns.dates import TRADING_DAYS, periods_per_year
from copilot_admin.agent.toolkits.returns.formatting import Points, format_number
from copilot_admin.agent.toolkits.returns.options import Options, ReturnUnit, SeriesKind
from copilot_admin.agent.toolkits.returns.series import SeriesSet, label

ROUNDING = 1e-14
_START = "start"  # the level before the first of given returns
_SAY_PERIODS = 'Say {"values": ..., "periods_per_year": ...}.'


def align(given: SeriesSet) -> SeriesSet:
    """Return the series at the points that all of them have.

    Raises:
        ValueError: There are fewer than two series, or no common points.
    """
    if len(given.series) < 2:
        raise ValueError('Give at least two series, such as {"A": [1, 2, 3], "B": [4, 5, 6]}.')
    if not given.is_dated and len(set(given.lengths.values())) > 1:
        lengths = ", ".join(f"{name} has {length}" for name, length in given.lengths.items())
        raise ValueError(
            f"Series without dates must have equally many values: {lengths}. Give the values dates,"
            " or null where one is missing."
        )
    common = pd.concat(given.series, axis=1, join="inner")
    if common.empty:
        raise ValueError(
            "The series have no date in common. Give each the values of the same dates."
        )
    notes = given.notes
    if len(common) < max(map(len, given.series)):
        notes = (*notes, f"Compared at the {len(common)} points that all series have.")
    return replace(given, series=tuple(common[one.name] for one in given.series), notes=notes)


def standard_deviation(values: pd.Series) -> float | None:
    """Return the standard deviation of a sample; 0 if only rounding moves, None below two values."""
    if len(values) < 2:
        return None
    spread = float(values.std(ddof=1))
    return spread if spread > ROUNDING * (1 + abs(float(values.mean()))) else 0.0


@dataclass(slots=True)
class Path:
    """A series as it grows, with the options and notes of the call.

    Attributes:
        returns: Simple returns by the end of their period; at least one.
        levels: One more than returns; above zero, or zero after a total loss.
        begin: When the first period began, if known.
    """

    name: str
    returns: pd.Series
    levels: "np.ndarray[Any, np.dtype[np.float64]]"
    begin: datetime | int | None
    options: Options
    notes: list[str]
    _periods: float | None = field(default=None)

    @classmethod
    def of(cls, series: pd.Series, given: SeriesSet, options: Options, notes: list[str]) -> "Path":
        """Build the path of a series.

        Raises:
            ValueError: There are too few values, or some can't be prices or returns.
            OverflowError: It grows beyond the range of numbers.
        """
        name, is_prices = str(series.name), options.kind is SeriesKind.PRICES
        notes += _questions(series, options, has_signs=name in given.percent_signs)
        _check_values(series, is_prices=is_prices)
        if is_prices:
            levels = series.to_numpy()
            returns = pd.Series(levels[1:] / levels[:-1] - 1, index=series.index[1:], name=name)
        else:
            levels = np.concatenate([[1.0], np.cumprod(1 + series.to_numpy())])
            returns = series
        if not (np.isfinite(levels).all() and np.isfinite(returns.to_numpy()).all()):
            raise OverflowError
        begin = series.index[0] if is_prices else None
        return cls(name, returns, levels, begin, options, notes)

    def when(self, place: int) -> str:
        """Return when the level of a place was reached."""
        key = self.returns.index[place - 1] if place else self.begin
        return _START if key is None else label(key)

    def points(self, values: Sequence[float] | Any, *, skip: int = 0) -> Points:
        """Pair values with the ends of their periods."""
        keys = self.returns.index[skip:]
        return [(key, float(value)) for key, value in zip(keys, values, strict=True)]

    @property
    def is_dated(self) -> bool:
        return isinstance(self.returns.index[0], datetime)

    def periods(self) -> float:
        """Return the number of periods in a year: as the caller says, else the dates, else 252.

        Raises:
            ValueError: The points are less than a day apart, or there are too few.
        """
        if self._periods is None:
            self._periods = self._find_periods()
        return self._periods

    def _find_periods(self) -> float:
        periods = self.options.periods_per_year
        if periods is None and not self.is_dated:
            self.notes.append(
                f"Without dates, {TRADING_DAYS} periods a year are assumed (trading days)."
            )
            return TRADING_DAYS
        if periods is None:
            times = [*([] if self.begin is None else [self.begin]), *self.returns.index]
            if len(times) < 2:
                raise ValueError(
                    f"{self.name!r} is too short to tell how long a period is. {_SAY_PERIODS}"
                )
            periods = periods_per_year(times)
            if periods is None:
                raise ValueError(
                    f"The points of {self.name!r} are less than a day apart. {_SAY_PERIODS}"
                )
        self.notes.append(f"A year has {format_number(periods)} periods of {self.name!r}.")
        return periods

    def compound_rate(self, years: float) -> float:
        """Return (P(end) / P(begin)) ^ (1 / years) - 1."""
        if years < 1:
            self.notes.append(
                f"{self.name!r} covers {format_number(years)} years: a return made annual from less"
                " than a year is no forecast."
            )
        return float((self.levels[-1] / self.levels[0]) ** (1 / years) - 1)


def _questions(series: pd.Series, options: Options, *, has_signs: bool) -> Iterator[str]:
    largest = series.max() if len(series) else 0.0
    is_returns = options.kind is SeriesKind.RETURNS
    if is_returns and options.unit is ReturnUnit.FRACTION and largest >= 1:
        yield (
            f"Are the returns of {series.name!r} percent? {largest:g} was taken as {largest:.0%}."
            ' If it is percent, say {"values": ..., "kind": "returns", "unit": "percent"}.'
        )
    if has_signs and options.kind is SeriesKind.PRICES:
        yield (
            f"Are the values of {series.name!r} returns? They have percent signs and were taken as"
            ' prices. If they are returns, say {"values": ..., "kind": "returns"}.'
        )


def _check_values(series: pd.Series, *, is_prices: bool) -> None:
    least, words = (2, "prices") if is_prices else (1, "returns")
    if len(series) < least:
        raise ValueError(
            f"{series.name!r} has {len(series)} {words}, after what is missing was left out; at"
            f" least {least} are needed."
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
