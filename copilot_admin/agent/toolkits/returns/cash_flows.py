"""Cash flows and payments."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from math import asinh, exp, expm1, fsum, log1p, sinh

from copilot_admin.agent.toolkits.returns.dates import periods_in_a_year
from copilot_admin.agent.toolkits.returns.options import Options
from copilot_admin.agent.toolkits.returns.points import Series
from copilot_admin.agent.toolkits.returns.telling import Cell, Row, number, percent

MAX_PAYMENTS = 10_000
_WIDEST = 700.0  # exp of a little more is no float any more
_EFFORT = 400_000  # payments looked at to find several rates: a fraction of a second
_TOTAL_LOSS = -1 + 1e-15  # a rate of exactly -1 has no logarithm
_LOOKS = 8  # places at which it is looked more closely
_GRID = (200, 2_000)  # the fewest and the most rates that are tried
_ZERO = 1e-13  # of the sum of all sizes: as near to zero as rounding lets it come


def rates_of(payments: Sequence[float], times: Sequence[float]) -> list[float]:
    """Every rate at which the payments are worth nothing, smallest first; per unit of time.

    Args:
        payments: Negative what is paid, positive what comes back.
        times: When each is made, in order; the unit is the rate's.

    Raises:
        OverflowError: The one that there is is beyond what a number can say.

    Examples:
        >>> [round(rate, 6) for rate in rates_of([-100, 121], [0, 2])]
        [0.1]
        >>> [round(rate, 6) for rate in rates_of([-100, 230, -132], [0, 1, 2])]
        [0.1, 0.2]
        >>> rates_of([100, 100], [0, 1])
        []
    """
    changes = _changes_of_sign(payments)
    if not changes:
        return []
    value = _present_value(payments, times)
    if changes == 1:
        if value(-_WIDEST) * value(_WIDEST) > 0:
            raise OverflowError
        roots = [_between(value, -_WIDEST, _WIDEST)]
    else:
        fewest, most = _GRID
        roots = list(_several(value, max(fewest, min(most, _EFFORT // len(payments)))))
    return [expm1(root) for root in roots]


def nearest(rates: Sequence[float], guess: float) -> float:
    """The rate that is nearest to a guess, as spreadsheets find it."""
    return min(rates, key=lambda rate: abs(log1p(max(rate, _TOTAL_LOSS)) - log1p(guess)))


def _changes_of_sign(payments: Sequence[float]) -> int:
    signs = [payment > 0 for payment in payments if payment]
    return sum(one != other for one, other in pairwise(signs))


def _present_value(payments: Sequence[float], times: Sequence[float]) -> Callable[[float], float]:
    """The present value at ln(1 + rate), as a part of the sum of all sizes: from -1 to 1."""

    def value(growth: float) -> float:
        exponents = [-growth * time for time in times]
        largest = max(exponents)
        terms = [
            payment * exp(exponent - largest)
            for payment, exponent in zip(payments, exponents, strict=True)
        ]
        return fsum(terms) / (fsum(map(abs, terms)) or 1.0)

    return value


def _several(value: Callable[[float], float], steps: int) -> Iterator[float]:
    widest = asinh(_WIDEST)
    grid = [sinh(widest * (2 * step / steps - 1)) for step in range(steps + 1)]
    values = list(map(value, grid))
    looks = 0
    for place in range(1, len(grid)):
        low, high = grid[place - 1], grid[place]
        if values[place - 1] == 0:
            yield low
        elif values[place - 1] * values[place] < 0:
            yield _between(value, low, high)
        elif looks < _LOOKS and _comes_near(values[place - 1 : place + 2]):
            looks += 1
            yield from _touched(value, low, grid[place + 1])


def _comes_near(values: Sequence[float]) -> bool:
    if len(values) < 3:
        return False
    before, here, after = values
    return before * here > 0 and here * after > 0 and abs(before) >= abs(here) < abs(after)


def _touched(value: Callable[[float], float], low: float, high: float) -> Iterator[float]:
    side = 1 if value(low) > 0 else -1
    left, right = low, high
    for _ in range(60):  # (2/3)^60 of the gap is less than a float tells apart
        third = (right - left) / 3
        if side * value(left + third) < side * value(right - third):
            right -= third
        else:
            left += third
    bottom = (left + right) / 2
    depth = side * value(bottom)
    if abs(depth) <= _ZERO:
        yield bottom
    elif depth < 0:
        yield _between(value, low, bottom)
        yield _between(value, bottom, high)


def _between(value: Callable[[float], float], low: float, high: float) -> float:
    is_positive = value(low) > 0
    for _ in range(120):
        middle = (low + high) / 2
        found = value(middle)
        if found == 0 or middle in (low, high):
            return middle
        if (found > 0) == is_positive:
            low = middle
        else:
            high = middle
    return (low + high) / 2


DAYS_OF_A_YEAR = 365  # those of XIRR


def irr(series: Series, options: Options, notes: list[str]) -> Row:
    """The internal rate of return of a period; where its length is known, of a year as well."""
    dates = [key for key in series.keys if isinstance(key, datetime)]
    if dates:
        times = [float(place) for place in range(len(dates))]
        notes.append(
            "irr takes the time from one date to the next as one period; xirr counts days."
        )
    else:
        times = [float(int(str(key))) for key in series.keys]
    row = _row("irr", series, times, options, notes)
    known = options.periods_per_year or (periods_in_a_year(dates) if len(dates) > 1 else None)
    if known is None or known == 1:
        notes.append("irr is the rate of one period, the time from one payment to the next.")
        return row
    notes.append(f"A year has {number(known)} periods of {series.name!r}.")
    return {**row, "irr_a_year": (1 + float(str(row["irr"]))) ** known - 1}


def xirr(series: Series, options: Options, notes: list[str]) -> Row:
    """The internal rate of return of a year, by the days between the payments."""
    dates = [key for key in series.keys if isinstance(key, datetime)]
    if not dates:
        raise ValueError(
            'xirr needs dates: give [{"date": "2024-01-31", "value": -1000}, ...], or take irr for'
            " payments at equal intervals."
        )
    if len(dates) < 2:
        raise ValueError(f"{series.name!r} has no xirr: it needs payments on at least two dates.")
    notes.append("xirr is a rate a year, of 365 days.")
    days = [(date - dates[0]).total_seconds() / 86_400 for date in dates]
    return _row("xirr", series, [one / DAYS_OF_A_YEAR for one in days], options, notes)


def _row(
    name: str, series: Series, times: Sequence[float], options: Options, notes: list[str]
) -> dict[str, Cell]:
    _check(name, series)
    rates = rates_of(series.values, times)
    if not rates:
        raise ValueError(
            f"{series.name!r} has no {name}: at no rate are its payments worth nothing together."
        )
    found = nearest(rates, options.guess)
    if len(rates) == 1:
        return {name: found}
    listed = ", ".join(map(percent, rates))
    notes.append(
        f"{series.name!r} has {len(rates)} rates, since its payments change sign more than once:"
        f" {listed}. None of them is the return by itself; {percent(found)} is the nearest to the"
        f" guess of {percent(options.guess)}."
    )
    return {name: found, "all_rates": listed}


def _check(name: str, series: Series) -> None:
    if len(series.values) > MAX_PAYMENTS:
        raise ValueError(f"{series.name!r} has more than {MAX_PAYMENTS:,} payments. Send fewer.")
    if not (any(one > 0 for one in series.values) and any(one < 0 for one in series.values)):
        raise ValueError(
            f"{series.name!r} has no {name}: it needs at least one payment below zero (paid) and one"
            " above zero (received)."
        )
