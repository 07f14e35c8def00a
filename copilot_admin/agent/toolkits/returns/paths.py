"""What a series of prices or returns amounts to: levels, the returns between them, and a year."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isfinite

from copilot_admin.agent.toolkits.returns.dates import (
    DAYS_OF_A_YEAR,
    TRADING_DAYS,
    periods_in_a_year,
)
from copilot_admin.agent.toolkits.returns.formulas import levels_of, simple_returns
from copilot_admin.agent.toolkits.returns.options import Options, ReturnUnit, SeriesKind
from copilot_admin.agent.toolkits.returns.points import Key, Series, SeriesSet, label

START = "start"  # the level before the first of given returns


@dataclass(frozen=True, slots=True)
class Path:
    """A series as it grows.

    Attributes:
        name: Of the series.
        keys: Of the returns: when each period ended; at least one.
        begin: When the first period began; None: not known.
        levels: One more than returns; above zero, or zero after a total loss.
        returns: Simple ones.
    """

    name: str
    keys: tuple[Key, ...]
    begin: Key | None
    levels: tuple[float, ...]
    returns: tuple[float, ...]

    def when(self, place: int) -> str:
        """When the level of this place was reached, in words."""
        key = self.keys[place - 1] if place else self.begin
        return START if key is None else label(key)


@dataclass(frozen=True, slots=True)
class Year:
    """How a path is made a matter of years.

    Attributes:
        periods: In a year, of those between its points.
        note: What was assumed; empty: nothing.
    """

    periods: float
    note: str = ""


def questions_of(series: Series, options: Options) -> Iterator[str]:
    """What the values look like besides what they were taken for, as questions."""
    largest = max(series.values, default=0.0)
    is_returns = options.kind is SeriesKind.RETURNS
    if is_returns and options.unit is ReturnUnit.FRACTION and largest >= 1:
        yield (
            f"Are the returns of {series.name!r} percent? {largest:g} was taken as {largest:.0%}."
            ' If it is percent, say {"values": ..., "kind": "returns", "unit": "percent"}.'
        )
    if series.has_signs and options.kind is SeriesKind.PRICES:
        yield (
            f"Are the values of {series.name!r} returns? They have percent signs and were taken as"
            ' prices. If they are returns, say {"values": ..., "kind": "returns"}.'
        )


def path_of(series: Series, kind: SeriesKind) -> Path:
    """The path of a series.

    Raises:
        ValueError: There are too few values, or some cannot be prices or returns.
        OverflowError: It grows beyond what a number can say.
    """
    path = _path_of_prices(series) if kind is SeriesKind.PRICES else _path_of_returns(series)
    if not all(map(isfinite, (*path.levels, *path.returns))):
        raise OverflowError
    return path


def aligned(given: SeriesSet) -> SeriesSet:
    """The series at the points that all of them have.

    Raises:
        ValueError: There are fewer than two series, or series without dates differ in length.
    """
    if len(given.series) < 2:
        raise ValueError('Give at least two series, such as {"A": [1, 2, 3], "B": [4, 5, 6]}.')
    if not given.dated and len({one.length for one in given.series}) > 1:
        lengths = ", ".join(f"{one.name} has {one.length}" for one in given.series)
        raise ValueError(
            f"Series without dates must have equally many values: {lengths}. Give the values dates,"
            " or null where one is missing."
        )
    common = set.intersection(*(set(one.keys) for one in given.series))
    if not common:
        raise ValueError(
            "The series have no date in common. Give each the values of the same dates."
        )
    kept = tuple(_only(one, common) for one in given.series)
    dropped = max(len(one.keys) for one in given.series) - len(common)
    note = f"Compared at the {len(common)} points that all series have."
    return SeriesSet(kept, given.dated, (*given.notes, *([note] if dropped else [])))


def year_of(path: Path, options: Options) -> Year:
    """How many periods a year has: as the caller says, else the dates, else 252.

    Raises:
        ValueError: The points are less than a day apart, so that nobody can tell.
    """
    if options.periods_per_year is not None:
        return Year(options.periods_per_year)
    times = _times(path)
    if len(times) < 2:
        if isinstance(path.keys[0], datetime):
            raise ValueError(f"{path.name!r} is too short to tell how long a period is. {_SAY}")
        return Year(
            TRADING_DAYS,
            f"Without dates, {TRADING_DAYS} periods a year are assumed (trading days).",
        )
    periods = periods_in_a_year(times)
    if periods is None:
        raise ValueError(f"The points of {path.name!r} are less than a day apart. {_SAY}")
    return Year(periods)


def years_of(path: Path, year: Year) -> float:
    """How many years a path takes: by its dates, actual days over 365.25, else by its periods."""
    first, last = path.begin, path.keys[-1]
    if isinstance(first, datetime) and isinstance(last, datetime):
        return (last - first).total_seconds() / 86_400 / DAYS_OF_A_YEAR
    return len(path.returns) / year.periods


_SAY = 'Say {"values": ..., "periods_per_year": ...}.'


def _times(path: Path) -> list[datetime]:
    keys = path.keys if path.begin is None else (path.begin, *path.keys)
    return [key for key in keys if isinstance(key, datetime)]


def _path_of_prices(series: Series) -> Path:
    _require(series, 2, "prices")
    _refuse(
        series,
        [value > 0 for value in series.values],
        "a price must be above zero. If the values are returns, say"
        ' {"values": ..., "kind": "returns"}',
    )
    returns = tuple(simple_returns(series.values))
    return Path(series.name, series.keys[1:], series.keys[0], series.values, returns)


def _path_of_returns(series: Series) -> Path:
    _require(series, 1, "returns")
    _refuse(
        series,
        [value >= -1 for value in series.values],
        "a simple return cannot be below -1, a total loss. If the values are percent, say"
        ' {"values": ..., "kind": "returns", "unit": "percent"}; 1% as a fraction is 0.01',
    )
    return Path(series.name, series.keys, None, tuple(levels_of(series.values)), series.values)


def _require(series: Series, least: int, words: str) -> None:
    if len(series.values) < least:
        raise ValueError(
            f"{series.name!r} has {len(series.values)} {words}, after what is missing was left out;"
            f" at least {least} are needed."
        )


def _refuse(series: Series, good: Sequence[bool], words: str) -> None:
    if not all(good):
        place = good.index(False)
        key, value = series.keys[place], series.values[place]
        raise ValueError(f"{series.name!r} is {value:g} at {label(key)}, but {words}.")


def _only(series: Series, common: set[Key]) -> Series:
    points = [
        (key, value) for key, value in zip(series.keys, series.values, strict=True) if key in common
    ]
    keys, values = tuple(key for key, _ in points), tuple(value for _, value in points)
    return Series(series.name, keys, values, series.length, series.has_signs)
