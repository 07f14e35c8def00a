"""The rates at which payments are worth nothing: IRR and XIRR.

Source: Microsoft's descriptions of the functions IRR and XIRR: the present value of all payments,
discounted at the rate, is zero; XIRR counts days over 365.

A rate r is looked for as ln(1 + r), between bounds that no rate leaves which a float can say. With
one change of sign there is exactly one (Descartes' rule of signs); with more a grid finds them, and
where the present value only comes near to zero it is looked at more closely.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import asinh, exp, expm1, fsum, log1p, sinh

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
    """The roots about a place where the value comes near to zero: none, one or two."""
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
