"""Functions of calculations; those of finance are as in spreadsheets.

Source: OpenFormula (OASIS, 2021), part 4, for pmt, pv, fv and npv, and for the sign of money: what
is paid is negative, what is received is positive.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal
import math

from copilot_admin.agent.toolkits.quantity import SHARES, Quantity

_MAX_FACTORIAL = 1000
_MAX_DECIMALS = 30
_ONE = Decimal(1)


@dataclass(frozen=True, slots=True)
class Function:
    """A function by its name, with its usage and number of arguments."""

    name: str
    usage: str
    min_arguments: int
    max_arguments: int | None
    apply: Callable[..., Quantity]

    def __call__(self, *values: Quantity) -> Quantity:
        """Apply the function to its arguments.

        Raises:
            ValueError: Too few or too many arguments, or none it is defined for.
        """
        if len(values) < self.min_arguments or (
            self.max_arguments is not None and len(values) > self.max_arguments
        ):
            raise ValueError(f"{self.name} is written {self.usage}.")
        return self.apply(*values)


def _sqrt(value: Quantity) -> Quantity:
    if value.amount < 0:
        raise ValueError("The square root of a negative number is not a real number.")
    return Quantity(value.number("What sqrt takes").sqrt())


def _logarithm(name: str, base: int | None) -> Callable[[Quantity], Quantity]:
    def apply(value: Quantity) -> Quantity:
        number = value.number(f"What {name} takes")
        if number <= 0:
            raise ValueError(f"{name} takes a number above zero, not {value}.")
        if base is None:
            return Quantity(number.ln())
        return Quantity(number.log10() if base == 10 else number.ln() / Decimal(base).ln())

    return apply


def _log(value: Quantity) -> Quantity:
    raise ValueError("log has several meanings: write ln, log10 or log2.")


def _exp(value: Quantity) -> Quantity:
    return Quantity(value.number("What exp takes").exp())


def _factorial(value: Quantity) -> Quantity:
    number = value.number("What factorial takes")
    if number != number.to_integral_value() or not 0 <= number <= _MAX_FACTORIAL:
        raise ValueError(f"factorial takes a whole number from 0 to {_MAX_FACTORIAL}.")
    return Quantity(+Decimal(math.factorial(int(number))))


def _absolute(value: Quantity) -> Quantity:
    return -value if value.amount < 0 else value


def _rounded(rounding: str) -> Callable[..., Quantity]:
    def apply(value: Quantity, digits: Quantity | None = None) -> Quantity:
        places = digits.number("The number of decimals") if digits else Decimal(0)
        if places != places.to_integral_value() or abs(places) > _MAX_DECIMALS:
            raise ValueError(f"The number of decimals is a whole number up to {_MAX_DECIMALS}.")
        written = SHARES.get(value.unit, 1)  # of 12.3% the 12.3 is rounded
        moved = value.amount * written * 10**places
        return replace(value, amount=moved.to_integral_value(rounding) / 10**places / written)

    return apply


def _amounts(values: Sequence[Quantity]) -> list[Decimal]:
    return [value.like(values[0]) for value in values]


def _smallest(*values: Quantity) -> Quantity:
    return replace(values[0], amount=min(_amounts(values)))


def _greatest(*values: Quantity) -> Quantity:
    return replace(values[0], amount=max(_amounts(values)))


def _sum(*values: Quantity) -> Quantity:
    return replace(values[0], amount=sum(_amounts(values), Decimal()))


def _average(*values: Quantity) -> Quantity:
    return _sum(*values).scaled(_ONE / len(values))


def _median(*values: Quantity) -> Quantity:
    ordered = sorted(_amounts(values))
    middle = len(ordered) // 2
    return replace(values[0], amount=(ordered[middle] + ordered[~middle]) / 2)


def _growth_and_annuity(rate: Quantity, periods: Quantity) -> tuple[Decimal, Decimal]:
    interest, count = rate.number("A rate"), periods.number("The number of periods")
    if interest <= -1 or count <= 0:
        raise ValueError("The rate has to be above -100% and the number of periods above zero.")
    growth = (1 + interest) ** count
    return growth, (growth - 1) / interest if interest else count


def _payment(
    rate: Quantity, periods: Quantity, present: Quantity, future: Quantity | None = None
) -> Quantity:
    growth, annuity = _growth_and_annuity(rate, periods)
    return -_with(present.scaled(growth), future).scaled(1 / annuity)


def _present_value(
    rate: Quantity, periods: Quantity, payment: Quantity, future: Quantity | None = None
) -> Quantity:
    growth, annuity = _growth_and_annuity(rate, periods)
    return -_with(payment.scaled(annuity), future).scaled(1 / growth)


def _future_value(
    rate: Quantity, periods: Quantity, payment: Quantity, present: Quantity | None = None
) -> Quantity:
    growth, annuity = _growth_and_annuity(rate, periods)
    return -_with(payment.scaled(annuity), present.scaled(growth) if present else None)


def _with(value: Quantity, other: Quantity | None) -> Quantity:
    return value + other if other else value


def _net_present_value(rate: Quantity, *flows: Quantity) -> Quantity:
    interest = rate.number("A rate")
    if interest <= -1:
        raise ValueError("The rate has to be above -100%.")
    discounted = (flow.scaled((1 + interest) ** -year) for year, flow in enumerate(flows, start=1))
    return _sum(*discounted)


def _annual_growth(start: Quantity, end: Quantity, years: Quantity) -> Quantity:
    count = years.number("The number of years")
    if start.amount <= 0 or end.amount <= 0 or count <= 0:
        raise ValueError("cagr takes a start, an end and a number of years, all above zero.")
    ratio = end.like(start) / start.amount
    return Quantity(ratio ** (1 / count) - 1, "%")


def _change(old: Quantity, new: Quantity) -> Quantity:
    if not old.amount:
        raise ValueError("A change from zero has no percentage.")
    difference = new.like(old) - old.amount
    return Quantity(difference / abs(old.amount), "%")


_ALL = (
    Function("sqrt", "sqrt(x)", 1, 1, _sqrt),
    Function("ln", "ln(x)", 1, 1, _logarithm("ln", None)),
    Function("log10", "log10(x)", 1, 1, _logarithm("log10", 10)),
    Function("log2", "log2(x)", 1, 1, _logarithm("log2", 2)),
    Function("log", "ln(x), log10(x) or log2(x)", 1, 1, _log),
    Function("exp", "exp(x)", 1, 1, _exp),
    Function("factorial", "factorial(n)", 1, 1, _factorial),
    Function("abs", "abs(x)", 1, 1, _absolute),
    Function("round", "round(x) or round(x, decimals)", 1, 2, _rounded(ROUND_HALF_UP)),
    Function("floor", "floor(x)", 1, 1, _rounded(ROUND_FLOOR)),
    Function("ceil", "ceil(x)", 1, 1, _rounded(ROUND_CEILING)),
    Function("min", "min(a, b, ...)", 1, None, _smallest),
    Function("max", "max(a, b, ...)", 1, None, _greatest),
    Function("sum", "sum(a, b, ...)", 1, None, _sum),
    Function("avg", "avg(a, b, ...)", 1, None, _average),
    Function("mean", "mean(a, b, ...)", 1, None, _average),
    Function("median", "median(a, b, ...)", 1, None, _median),
    Function("pmt", "pmt(rate, periods, present, future)", 3, 4, _payment),
    Function("pv", "pv(rate, periods, payment, future)", 3, 4, _present_value),
    Function("fv", "fv(rate, periods, payment, present)", 3, 4, _future_value),
    Function("npv", "npv(rate, first, second, ...)", 2, None, _net_present_value),
    Function("cagr", "cagr(start, end, years)", 3, 3, _annual_growth),
    Function("change", "change(old, new)", 2, 2, _change),
)
FUNCTIONS = {function.name: function for function in _ALL}
VARIADIC = frozenset(function.name for function in _ALL if function.max_arguments is None)
