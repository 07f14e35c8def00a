"""From values to places in a picture, and the round numbers beside an axis."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

WANTED_TICKS = 5
ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Maps values between `low` and `high` to places between `start` and `end`."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """The pixel at which a value is drawn."""
        share = (value / 2 - self.low / 2) / (
            self.high / 2 - self.low / 2
        )  # halves cannot overflow
        return self.start + share * (self.end - self.start)


def number_of(value: object) -> float | None:
    """A value as a finite number; texts such as `12.5` count, everything else is None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) and abs(number) < 1e300 else None


def round_ticks(
    low: float, high: float, *, wanted: int = WANTED_TICKS, whole: bool = False
) -> list[float]:
    """Round numbers that enclose a range: the first is at most `low`, the last at least `high`.

    Args:
        low: The smallest value.
        high: The largest value.
        wanted: About how many.
        whole: Whether only whole numbers mean something, as in counts.
    """
    if low == high:
        margin = abs(low) / 10 or 1.0
        low = low if whole and not low else low - margin  # nobody counts below nothing
        high += margin
    step = _round_step((high - low) / wanted)
    if whole and not step.is_integer():
        step = float(ceil(step))
    first, last = floor(low / step), ceil(high / step)
    return [number * step for number in range(first, last + 1)]


def thinned(count: int, *, most: int) -> list[int]:
    """Which of `count` things to show when there is place for `most`, evenly from the first on."""
    step = max(1, ceil(count / most))
    return list(range(0, count, step))


def are_whole(values: Iterable[float]) -> bool:
    return all(float(value).is_integer() for value in values)


def extent(values: Sequence[float]) -> tuple[float, float]:
    """The smallest and the largest of some values."""
    return min(values), max(values)


def _round_step(rough: float) -> float:
    power = 10.0 ** floor(log10(rough))
    return next(power * step for step in ROUND_STEPS if power * step >= rough * 0.999)
