"""A number with its unit or as a share (percent), and what may be done with two of them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from enum import StrEnum
from typing import TypeAlias

from copilot_admin.agent.toolkits.arithmetic.units import Unit

PRECISION = 50  # digits that a calculation carries
SHOWN_DIGITS = 12  # after the point, or after the first digit that is not zero
_TINY = -15  # below 1e-15 a number is written with an exponent
_MAX_UNIT_POWER = 9

Powers: TypeAlias = tuple[tuple[Unit, int], ...]


class ShareSign(StrEnum):
    """How a part of one hundred, or of more, is written."""

    PERCENT = "%"
    PER_MILLE = "‰"
    BASIS_POINTS = "bp"

    @property
    def per(self) -> int:
        """How many parts of a unit make one whole: 100 for per cent."""
        return {ShareSign.PERCENT: 100, ShareSign.PER_MILLE: 1000, ShareSign.BASIS_POINTS: 10_000}[
            self
        ]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number; either with units to their powers, or written as a share, or neither.

    Attributes:
        amount: Counted in the units; of a share, the fraction: 5% is 0.05.
        units: Each dimension at most once, in the order of writing.
        share: How it was written, if as a share.
    """

    amount: Decimal
    units: Powers = ()
    share: ShareSign | None = None

    def __str__(self) -> str:
        if self.share is not None:
            mark = " bp" if self.share is ShareSign.BASIS_POINTS else self.share.value
            return shown(self.amount * self.share.per) + mark
        return f"{shown(self.amount)} {self.unit_text}".rstrip()

    @property
    def unit_text(self) -> str:
        """The units as they are written: `USD`, `km/h`, `m^2`."""
        above = [_power_text(unit, power) for unit, power in self.units if power > 0]
        below = [(unit, power) for unit, power in self.units if power < 0]
        if not above:
            return "*".join(_power_text(unit, power) for unit, power in below)
        return "*".join(above) + "".join(f"/{_power_text(unit, -power)}" for unit, power in below)

    def __neg__(self) -> "Quantity":
        return replace(self, amount=-self.amount)

    def __add__(self, other: "Quantity") -> "Quantity":
        if other.share is not None and self.share is None:
            return replace(self, amount=self.amount * (1 + other.amount))
        return replace(self, amount=self.amount + other.counted_like(self).amount)

    def __sub__(self, other: "Quantity") -> "Quantity":
        return self + -other

    def __mul__(self, other: "Quantity") -> "Quantity":
        factor, units = _joined(self, other, sign=1)
        both = self.share is not None and other.share is not None
        share = self.share if both else None  # half of 20% is said in percent again
        return Quantity(self.amount * other.amount * factor, units, share)

    def __truediv__(self, other: "Quantity") -> "Quantity":
        if not other.amount:
            raise ValueError("This divides by zero, which has no result.")
        factor, units = _joined(self, other, sign=-1)
        return Quantity(self.amount / other.amount * factor, units)

    def __mod__(self, other: "Quantity") -> "Quantity":
        divisor = other.counted_like(self).amount
        if not divisor:
            raise ValueError("This divides by zero, which has no remainder.")
        rest = self.amount % divisor
        wrong_side = rest and (rest < 0) != (divisor < 0)
        return replace(self, amount=rest + divisor if wrong_side else rest)

    def __pow__(self, other: "Quantity") -> "Quantity":
        exponent = other.number("An exponent")
        if not self.amount and exponent <= 0:
            raise ValueError("Zero can only be raised to a power above zero.")
        if not self.units:
            return Quantity(self.amount**exponent)
        return Quantity(
            self.amount**exponent,
            tuple((unit, _unit_power(unit, power * exponent)) for unit, power in self.units),
        )

    def scaled(self, factor: Decimal) -> "Quantity":
        """The same kind of quantity, so many times as large."""
        return replace(self, amount=self.amount * factor)

    def number(self, what: str) -> Decimal:
        """The amount of what must not have a unit.

        Raises:
            ValueError: It has one; `what` begins the sentence.
        """
        if self.units:
            raise ValueError(f"{what} has to be a number without a unit, not {self}.")
        return self.amount

    def counted_like(self, other: "Quantity") -> "Quantity":
        """The same quantity in the units, or as the share, of another.

        Raises:
            ValueError: They measure different things.
        """
        if (self.share is None) != (other.share is None):
            raise ValueError(
                f"{other} and {self} cannot be put together: only one of them is a percentage."
                " Write the number first, as in 200 + 10%, or both as percentages."
            )
        factor, units = _joined(other, self, sign=-1)
        if units:
            raise ValueError(_cannot_join(other, self))
        return Quantity(self.amount / factor, other.units, other.share)


def counted_alike(values: Iterable[Quantity]) -> list[Quantity]:
    """Converts quantities to the units of the first.

    Raises:
        ValueError: They measure different things.
    """
    first, *rest = values
    return [first, *(value.counted_like(first) for value in rest)]


def shown(number: Decimal) -> str:
    """The number as people write it, without the digits that only rounding left behind.

    Examples:
        >>> shown(Decimal(1) / 3), shown(Decimal("2.50")), shown(Decimal(10) ** 60)
        ('0.333333333333', '2.5', '1E+60')
    """
    if not number:
        return "0"
    size = number.adjusted()
    kept = SHOWN_DIGITS + max(size + 1, 0)
    if not _TINY <= size < PRECISION:
        kept = SHOWN_DIGITS
        return str(Context(prec=kept).plus(number).normalize(Context(prec=kept)))
    return f"{Context(prec=kept).plus(number).normalize(Context(prec=kept)):f}"


def _joined(left: Quantity, right: Quantity, *, sign: int) -> tuple[Decimal, Powers]:
    factor = Decimal(1)
    powers = {unit.dimension: (unit, power) for unit, power in left.units}
    for unit, power in right.units:
        kept, before = powers.get(unit.dimension, (unit, 0))
        factor *= (unit.size / kept.size) ** (sign * power)
        powers[unit.dimension] = (kept, before + sign * power)
    return factor, tuple(
        (unit, _unit_power(unit, Decimal(power))) for unit, power in powers.values() if power
    )


def _unit_power(unit: Unit, power: Decimal) -> int:
    if abs(power) > _MAX_UNIT_POWER or power != int(power):
        raise ValueError(
            f"{unit.symbol} to the power {shown(power)} means nothing. Leave the unit out."
        )
    return int(power)


def _power_text(unit: Unit, power: int) -> str:
    return unit.symbol if power == 1 else f"{unit.symbol}^{power}"


def _cannot_join(left: Quantity, right: Quantity) -> str:
    both = (*left.units, *right.units)
    if left.units and right.units and all(unit.is_currency for unit, _ in both):
        one, other = left.unit_text, right.unit_text
        return (
            f"{one} and {other} are different currencies, and no rate is known here."
            f" Multiply by one first, for example 100 {other} * 1.1 {one}/{other}."
        )
    if left.units and right.units:
        return f"{left.unit_text} and {right.unit_text} do not measure the same thing."
    return (
        f"{left} and {right} cannot be put together: only one of them has a unit. Give both a"
        " unit. (300m is 300 million; metres are written with a space: 300 m.)"
    )
