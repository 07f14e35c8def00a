"""How series are to be measured, where they do not say it by themselves."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from math import inf
from typing import Any, TypeVar

from copilot_admin.agent.toolkits.table_operations.cells import decimal_comma, number_of

DEFAULT_WINDOW = 21  # trading days of a month
LONGEST_WINDOW = 1_000
_VALUES = "values"
_Choice = TypeVar("_Choice", bound=StrEnum)


class SeriesKind(StrEnum):
    """What the values of a series are."""

    PRICES = "prices"
    RETURNS = "returns"
    VALUES = "values"  # any numbers, of which only the standard deviation means something


class ReturnUnit(StrEnum):
    """How returns are written."""

    FRACTION = "fraction"
    PERCENT = "percent"


@dataclass(frozen=True, slots=True)
class Options:
    """What a caller may say besides the values.

    Attributes:
        kind: Prices (or index levels), or simple returns of each period such as 0.01.
        unit: Of returns: 0.01, or 1 for one percent.
        periods_per_year: 252 for trading days, 52, 12 ...; None: as the dates say.
        risk_free_rate: A year's, such as 0.04.
        target: A year's return, below which the Sortino ratio sees a loss; None: the risk-free rate.
        confidence: Of value at risk, such as 0.95.
        benchmark: The series to which others are compared; empty: the last one.
        window: How many returns a rolling measure takes in.
        guess: Of several internal rates of return, the one that is nearest to this is given first.
        day_first: Whether 03/04/2024 is in April; None: the other dates decide.
    """

    kind: SeriesKind = SeriesKind.PRICES
    unit: ReturnUnit = ReturnUnit.FRACTION
    periods_per_year: float | None = None
    risk_free_rate: float = 0.0
    target: float | None = None
    confidence: float = 0.95
    benchmark: str = ""
    window: int = DEFAULT_WINDOW
    guess: float = 0.1
    day_first: bool | None = None

    @property
    def target_rate(self) -> float:
        """What the Sortino ratio measures against."""
        return self.risk_free_rate if self.target is None else self.target

    @property
    def questions(self) -> tuple[str, ...]:
        """What looks as if it were meant otherwise, as questions."""
        rates = {"risk_free_rate": self.risk_free_rate, "target": self.target or 0.0}
        return tuple(
            f"Is the {name} percent? {rate:g} was taken as {rate:.0%} a year; {rate:g}% is"
            f" {rate / 100:g}."
            for name, rate in rates.items()
            if rate >= 1
        )


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
        >>> values, options = unwrapped({"values": [1, 2], "window": 5}, {})
        >>> values, options.window, options.kind.value
        ([1, 2], 5, 'prices')
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
    periods = present.get("periods_per_year")
    if periods is not None and not (_is_number(periods) and 0 < periods <= 1_000_000):
        raise ValueError(
            f"periods_per_year must be a number such as 252, 52 or 12, not {periods!r}."
        )
    window = present.get("window", DEFAULT_WINDOW)
    if type(window) is not int or not 2 <= window <= LONGEST_WINDOW:
        raise ValueError(
            f"window must be a whole number from 2 to {LONGEST_WINDOW}, not {window!r}."
        )
    day_first = present.get("day_first")
    if not isinstance(day_first, bool | None):
        raise ValueError(f"day_first must be true or false, not {day_first!r}.")
    return Options(
        kind=_one_of(SeriesKind, "kind", present.get("kind", SeriesKind.PRICES)),
        unit=_one_of(ReturnUnit, "unit", present.get("unit", ReturnUnit.FRACTION)),
        periods_per_year=periods,
        risk_free_rate=_rate("risk_free_rate", present.get("risk_free_rate", 0.0)),
        target=_rate("target", present["target"]) if "target" in present else None,
        confidence=_confidence(present.get("confidence", 0.95)),
        benchmark=str(present.get("benchmark", "")),
        window=window,
        guess=_rate("guess", present.get("guess", 0.1)),
        day_first=day_first,
    )


def _one_of(known: type[_Choice], name: str, value: object) -> _Choice:
    try:
        return known(str(value))
    except ValueError:
        words = [repr(str(one)) for one in known]
        listed = f"{', '.join(words[:-1])} or {words[-1]}"
        raise ValueError(f"{name} must be {listed}, not {value!r}.") from None


def _rate(name: str, value: object) -> float:
    rate = number_of(value) if isinstance(value, str) else value
    if not (_is_number(rate) and -1 < rate <= 10):  # type: ignore[operator]  # a number
        raise ValueError(
            f"{name} must be a number such as 0.04 for 4%, not {value!r}."
            f"{decimal_comma(value) if isinstance(value, str) else ''}"
        )
    return float(rate)  # type: ignore[arg-type]  # a number


def _confidence(value: object) -> float:
    share = number_of(value) if isinstance(value, str) else value
    if not (_is_number(share) and 0.5 <= share < 1):  # type: ignore[operator]  # a number
        raise ValueError(
            f"confidence must be from 0.5 to below 1, such as 0.95 for 95%, not {value!r}."
        )
    return float(share)  # type: ignore[arg-type]  # a number


def _is_number(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) < inf  # type: ignore[arg-type]  # of a very long one, too
