"""Functions of calculations; financial ones follow spreadsheets.

Source: OpenFormula (OASIS, 2021), part 4, for pmt, pv, fv and npv, and for the sign of money:
payments are negative, receipts are positive.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from enum import Enum
import inspect
import math
from statistics import median

_MAX_FACTORIAL = 1000
_MAX_DECIMALS = 30
_ZERO = Decimal(0)


class ResultUnit(Enum):
    """The unit of a function's result."""

    NONE = "none"
    SHARE = "share"
    FIRST = "first"  # the unit of the first argument
    CURRENCY = "currency"  # the currency of the arguments, if any


@dataclass(frozen=True, slots=True)
class Function:
    """A function of numbers, with its usage and the unit of its result."""

    usage: str
    apply: Callable[..., Decimal]
    unit: ResultUnit = ResultUnit.NONE

    def __call__(self, *values: Decimal) -> Decimal:
        """Apply the function to its arguments.

        Raises:
            ValueError: Too few or too many arguments, or the function is not defined for them.
        """
        try:
            inspect.signature(self.apply).bind(*values)
        except TypeError:
            raise ValueError(f"Its arguments are {self.usage}.") from None
        return self.apply(*values)


def _log(value: Decimal) -> Decimal:
    raise ValueError("log has several meanings: write ln, log10 or log2.")


def _log2(value: Decimal) -> Decimal:
    return value.ln() / Decimal(2).ln()


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


def _min(first: Decimal, *others: Decimal) -> Decimal:
    return min(first, *others, first)


def _max(first: Decimal, *others: Decimal) -> Decimal:
    return max(first, *others, first)


def _sum(first: Decimal, *others: Decimal) -> Decimal:
    return sum(others, first)


def _average(first: Decimal, *others: Decimal) -> Decimal:
    return _sum(first, *others) / (1 + len(others))


def _median(first: Decimal, *others: Decimal) -> Decimal:
    return median((first, *others))


def _growth_and_annuity(rate: Decimal, periods: Decimal) -> tuple[Decimal, Decimal]:
    if rate <= -1 or periods <= 0:
        raise ValueError("The rate has to be above -100% and the number of periods above zero.")
    growth = (1 + rate) ** periods
    return growth, (growth - 1) / rate if rate else periods


def _payment(rate: Decimal, periods: Decimal, present: Decimal, future: Decimal = _ZERO) -> Decimal:
    growth, annuity = _growth_and_annuity(rate, periods)
    return -(present * growth + future) / annuity


def _present_value(
    rate: Decimal, periods: Decimal, payment: Decimal, future: Decimal = _ZERO
) -> Decimal:
    growth, annuity = _growth_and_annuity(rate, periods)
    return -(payment * annuity + future) / growth


def _future_value(
    rate: Decimal, periods: Decimal, payment: Decimal, present: Decimal = _ZERO
) -> Decimal:
    growth, annuity = _growth_and_annuity(rate, periods)
    return -(payment * annuity + present * growth)


def _net_present_value(rate: Decimal, first: Decimal, *others: Decimal) -> Decimal:
    if rate <= -1:
        raise ValueError("The rate has to be above -100%.")
    flows = enumerate((first, *others), start=1)
    return sum((flow / (1 + rate) ** year for year, flow in flows), _ZERO)


def _annual_growth(start: Decimal, end: Decimal, years: Decimal) -> Decimal:
    if start <= 0 or end <= 0 or years <= 0:
        raise ValueError("cagr takes a start, an end and a number of years, all above zero.")
    return (end / start) ** (1 / years) - 1


def _change(old: Decimal, new: Decimal) -> Decimal:
    if not old:
        raise ValueError("A change from zero has no percentage.")
    return (new - old) / abs(old)


FUNCTIONS: Mapping[str, Function] = {
    "sqrt": Function("sqrt(x)", lambda x: x.sqrt()),
    "ln": Function("ln(x)", lambda x: x.ln()),
    "log10": Function("log10(x)", lambda x: x.log10()),
    "log2": Function("log2(x)", _log2),
    "log": Function("ln(x), log10(x) or log2(x)", _log),
    "exp": Function("exp(x)", lambda x: x.exp()),
    "factorial": Function("factorial(n)", _factorial),
    "abs": Function("abs(x)", lambda x: abs(x), ResultUnit.FIRST),
    "round": Function("round(x, decimals)", _round_by(ROUND_HALF_UP), ResultUnit.FIRST),
    "floor": Function("floor(x)", _round_by(ROUND_FLOOR), ResultUnit.FIRST),
    "ceil": Function("ceil(x)", _round_by(ROUND_CEILING), ResultUnit.FIRST),
    "min": Function("min(a, b, ...)", _min, ResultUnit.FIRST),
    "max": Function("max(a, b, ...)", _max, ResultUnit.FIRST),
    "sum": Function("sum(a, b, ...)", _sum, ResultUnit.FIRST),
    "avg": Function("avg(a, b, ...)", _average, ResultUnit.FIRST),
    "mean": Function("mean(a, b, ...)", _average, ResultUnit.FIRST),
    "median": Function("median(a, b, ...)", _median, ResultUnit.FIRST),
    "pmt": Function("pmt(rate, periods, present, future)", _payment, ResultUnit.CURRENCY),
    "pv": Function("pv(rate, periods, payment, future)", _present_value, ResultUnit.CURRENCY),
    "fv": Function("fv(rate, periods, payment, present)", _future_value, ResultUnit.CURRENCY),
    "npv": Function("npv(rate, first, second, ...)", _net_present_value, ResultUnit.CURRENCY),
    "cagr": Function("cagr(start, end, years)", _annual_growth, ResultUnit.SHARE),
    "change": Function("change(old, new)", _change, ResultUnit.SHARE),
}
VARIADIC = frozenset(name for name, function in FUNCTIONS.items() if "..." in function.usage)
