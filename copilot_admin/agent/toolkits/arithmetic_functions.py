"""Functions of calculations; financial ones follow spreadsheets.

Source: OpenFormula (OASIS, 2021), part 4, for pmt, pv, fv and npv, and for the sign of money:
payments are negative, receipts are positive.
"""

from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal
import math
from statistics import mean, median
from typing import Literal, NamedTuple, TypeAlias

_MAX_FACTORIAL = 1000
_MAX_DECIMALS = 30
_ZERO = Decimal(0)

# "first": the unit of the first argument; "currency": the currency of the arguments, if any.
ResultUnit: TypeAlias = Literal["none", "share", "first", "currency"]


class Function(NamedTuple):
    """A function of numbers; `usage` describes its arguments, `unit` is that of its result."""

    usage: str
    apply: Callable[..., Decimal]
    unit: ResultUnit = "none"


def _factorial(value: Decimal) -> Decimal:
    if value != value.to_integral_value() or not 0 <= value <= _MAX_FACTORIAL:
        raise ValueError(f"factorial takes a whole number from 0 to {_MAX_FACTORIAL}.")
    return +Decimal(math.factorial(int(value)))


def _round_by(rounding: str) -> Callable[..., Decimal]:
    def apply(value: Decimal, digits: Decimal = _ZERO) -> Decimal:
        if digits != digits.to_integral_value() or abs(digits) > _MAX_DECIMALS:
            raise ValueError(f"The number of decimals is a whole number up to {_MAX_DECIMALS}.")
        return (value * 10**digits).to_integral_value(rounding) / 10**digits

    return apply


def _of_all(function: Callable[[tuple[Decimal, ...]], Decimal]) -> Callable[..., Decimal]:
    return lambda first, *others: function((first, *others))


def _growth_and_annuity(rate: Decimal, periods: Decimal) -> tuple[Decimal, Decimal]:
    growth = (1 + rate) ** periods
    return growth, (growth - 1) / rate if rate else periods


def _pmt(rate: Decimal, periods: Decimal, present: Decimal, future: Decimal = _ZERO) -> Decimal:
    growth, annuity = _growth_and_annuity(rate, periods)
    return -(present * growth + future) / annuity


def _pv(rate: Decimal, periods: Decimal, payment: Decimal, future: Decimal = _ZERO) -> Decimal:
    growth, annuity = _growth_and_annuity(rate, periods)
    return -(payment * annuity + future) / growth


def _fv(rate: Decimal, periods: Decimal, payment: Decimal, present: Decimal = _ZERO) -> Decimal:
    growth, annuity = _growth_and_annuity(rate, periods)
    return -(payment * annuity + present * growth)


def _npv(rate: Decimal, first: Decimal, *others: Decimal) -> Decimal:
    flows = enumerate((first, *others), start=1)
    return sum((flow / (1 + rate) ** year for year, flow in flows), _ZERO)


FUNCTIONS: Mapping[str, Function] = {
    "sqrt": Function("sqrt(x)", lambda x: x.sqrt()),
    "ln": Function("ln(x)", lambda x: x.ln()),
    "log10": Function("log10(x)", lambda x: x.log10()),
    "log2": Function("log2(x)", lambda x: x.ln() / Decimal(2).ln()),
    "exp": Function("exp(x)", lambda x: x.exp()),
    "factorial": Function("factorial(n)", _factorial),
    "abs": Function("abs(x)", lambda x: abs(x), "first"),
    "round": Function("round(x, decimals)", _round_by(ROUND_HALF_UP), "first"),
    "floor": Function("floor(x)", _round_by(ROUND_FLOOR), "first"),
    "ceil": Function("ceil(x)", _round_by(ROUND_CEILING), "first"),
    "min": Function("min(a, b, ...)", _of_all(min), "first"),
    "max": Function("max(a, b, ...)", _of_all(max), "first"),
    "sum": Function("sum(a, b, ...)", _of_all(lambda values: sum(values, _ZERO)), "first"),
    "avg": Function("avg(a, b, ...)", _of_all(mean), "first"),
    "mean": Function("mean(a, b, ...)", _of_all(mean), "first"),
    "median": Function("median(a, b, ...)", _of_all(median), "first"),
    "pmt": Function("pmt(rate, periods, present, future)", _pmt, "currency"),
    "pv": Function("pv(rate, periods, payment, future)", _pv, "currency"),
    "fv": Function("fv(rate, periods, payment, present)", _fv, "currency"),
    "npv": Function("npv(rate, first, second, ...)", _npv, "currency"),
    "cagr": Function(
        "cagr(start, end, years)", lambda old, new, years: (new / old) ** (1 / years) - 1, "share"
    ),
    "change": Function("change(old, new)", lambda old, new: (new - old) / abs(old), "share"),
}
