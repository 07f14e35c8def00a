"""How series are to be measured, where they do not say it by themselves."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from math import isfinite
from typing import Any

DEFAULT_WINDOW = 21  # trading days of a month
LONGEST_WINDOW = 1_000
_VALUES = "values"


class Kind(StrEnum):
    """What the values of a series are."""

    PRICES = "prices"
    RETURNS = "returns"


@dataclass(frozen=True, slots=True)
class Options:
    """What a caller may say besides the values.

    Attributes:
        kind: Prices (or index levels), or simple returns of each period such as 0.01.
        periods_per_year: 252 for trading days, 52, 12 ...; None: as the dates say.
        risk_free_rate: A year's, such as 0.04.
        benchmark: The series to which beta relates the others; empty: the last one.
        window: How many returns a rolling measure takes in.
    """

    kind: Kind = Kind.PRICES
    periods_per_year: float | None = None
    risk_free_rate: float = 0.0
    benchmark: str = ""
    window: int = DEFAULT_WINDOW


_NAMES = tuple(field.name for field in fields(Options))


def unwrapped(series: object, settings: Mapping[str, Any]) -> tuple[object, Options]:
    """The values, and how to measure them.

    An object with `values` whose other keys are options, with plain values, holds a series with
    options; any other object is a series.

    Args:
        series: As a caller gives it.
        settings: Options for what the caller does not say; names that are none are passed over.

    Raises:
        ValueError: An option is out of bounds.

    Examples:
        >>> unwrapped({"values": [1, 2], "window": 5}, {})
        ([1, 2], Options(kind=<Kind.PRICES: 'prices'>, periods_per_year=None, \
risk_free_rate=0.0, benchmark='', window=5))
    """
    given = {name: settings[name] for name in _NAMES if name in settings}
    if isinstance(series, Mapping) and _VALUES in series and _are_options(series):
        given |= {name: value for name, value in series.items() if name != _VALUES}
        series = series[_VALUES]
    return series, _options(given)


def _are_options(series: Mapping[Any, Any]) -> bool:
    others = [name for name in series if name != _VALUES]
    return all(
        name in _NAMES and not isinstance(series[name], list | Mapping) for name in others
    ) and isinstance(series[_VALUES], list | Mapping | str)


def _options(given: Mapping[str, Any]) -> Options:
    present = {name: value for name, value in given.items() if value is not None}
    kind = present.get("kind", Kind.PRICES)
    if kind not in tuple(Kind):
        raise ValueError(f"kind must be 'prices' or 'returns', not {kind!r}.")
    periods = present.get("periods_per_year")
    if periods is not None and not (_is_number(periods) and 0 < periods <= 1_000_000):
        raise ValueError(
            f"periods_per_year must be a number such as 252, 52 or 12, not {periods!r}."
        )
    rate = present.get("risk_free_rate", 0.0)
    if not (_is_number(rate) and -1 < rate <= 10):
        raise ValueError(f"risk_free_rate must be a number such as 0.04 for 4%, not {rate!r}.")
    window = present.get("window", DEFAULT_WINDOW)
    if type(window) is not int or not 2 <= window <= LONGEST_WINDOW:
        raise ValueError(
            f"window must be a whole number from 2 to {LONGEST_WINDOW}, not {window!r}."
        )
    return Options(Kind(kind), periods, rate, str(present.get("benchmark", "")), window)


def _is_number(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and isfinite(value)  # type: ignore[arg-type]
