"""Numbers, amounts of a currency and shares, and what may be done with two of them."""

from dataclasses import dataclass, replace
from decimal import Context, Decimal

PRECISION = 50  # digits that a calculation carries
SHOWN_DIGITS = 12  # after the point, or after the first digit that is not zero
SHARES = {"%": 100, "‰": 1000, "bp": 10_000}  # parts of a whole
_MIN_PLAIN_SIZE = -15  # a number below 1e-15 is written with an exponent


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, an amount of a currency, or a share.

    Attributes:
        amount: Of a share, the fraction: 5% is 0.05.
        unit: A currency, one of `SHARES`, or empty.
    """

    amount: Decimal
    unit: str = ""

    @property
    def is_share(self) -> bool:
        return self.unit in SHARES

    @property
    def currency(self) -> str:
        return "" if self.is_share else self.unit

    def __str__(self) -> str:
        if not self.is_share:
            return f"{format_decimal(self.amount)} {self.unit}".rstrip()
        space = " " if self.unit == "bp" else ""
        return f"{format_decimal(self.amount * SHARES[self.unit])}{space}{self.unit}"

    def __neg__(self) -> "Quantity":
        return replace(self, amount=-self.amount)

    def __add__(self, other: "Quantity") -> "Quantity":
        if other.is_share and not self.is_share:
            return self.scaled(1 + other.amount)
        return replace(self, amount=self.amount + other.like(self))

    def __mul__(self, other: "Quantity") -> "Quantity":
        if self.currency and other.currency:
            raise ValueError(f"{self} and {other} cannot be multiplied.")
        if self.is_share and other.is_share:
            return self.scaled(other.amount)  # half of 20% is a percentage again
        return Quantity(self.amount * other.amount, self.currency or other.currency)

    def __truediv__(self, other: "Quantity") -> "Quantity":
        if not other.amount:
            raise ValueError("This divides by zero, which has no result.")
        if other.currency:
            return Quantity(self.amount / other.like(self))
        return Quantity(self.amount / other.amount, self.currency)

    def __mod__(self, other: "Quantity") -> "Quantity":
        divisor = other.like(self)
        if not divisor:
            raise ValueError("This divides by zero, which has no remainder.")
        rest = self.amount % divisor
        has_other_sign = rest and (rest < 0) != (divisor < 0)
        return replace(self, amount=rest + divisor if has_other_sign else rest)

    def __pow__(self, other: "Quantity") -> "Quantity":
        base, exponent = self.number("A base"), other.number("An exponent")
        if not base and exponent <= 0:
            raise ValueError("Zero can only be raised to a power above zero.")
        return Quantity(base**exponent)

    def scaled(self, factor: Decimal) -> "Quantity":
        """Return the same kind of quantity, so many times as large."""
        return replace(self, amount=self.amount * factor)

    def number(self, subject: str) -> Decimal:
        """Return the amount of a quantity that must have no currency.

        Raises:
            ValueError: It has one; `subject` begins the sentence.
        """
        if self.currency:
            raise ValueError(f"{subject} has to be a number without a currency, not {self}.")
        return self.amount

    def like(self, other: "Quantity") -> Decimal:
        """Return the amount, if both are numbers, shares, or amounts of one currency.

        Raises:
            ValueError: They are different.
        """
        if self.is_share != other.is_share:
            raise ValueError(
                f"{other} and {self} cannot be put together: only one of them is a percentage."
                " Write the number first, as in 200 + 10%, or both as percentages."
            )
        if self.currency and other.currency and self.currency != other.currency:
            raise ValueError(
                f"{other} and {self} cannot be put together: no rate is known here. Multiply by the"
                " rate and leave the currency out: 100 * 1.1."
            )
        if self.currency != other.currency:
            raise ValueError(
                f"{other} and {self} cannot be put together: only one of them has a currency."
            )
        return self.amount


def format_decimal(number: Decimal) -> str:
    """Return a number without the digits that only rounding left behind.

    Examples:
        >>> format_decimal(Decimal(1) / 3), format_decimal(Decimal("2.50"))
        ('0.333333333333', '2.5')
    """
    if not number:
        return "0"
    size = number.adjusted()
    if not _MIN_PLAIN_SIZE <= size < PRECISION:
        context = Context(prec=SHOWN_DIGITS)
        return str(context.plus(number).normalize(context))
    context = Context(prec=SHOWN_DIGITS + max(size + 1, 0))
    return f"{context.plus(number).normalize(context):f}"
