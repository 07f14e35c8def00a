"""Reads the tokens of a calculation by precedence and works it out on the way."""

from decimal import Decimal
from typing import NoReturn

from copilot_admin.agent.toolkits.arithmetic.functions import FUNCTIONS
from copilot_admin.agent.toolkits.arithmetic.quantity import Quantity, ShareSign
from copilot_admin.agent.toolkits.arithmetic.tokens import Token, TokenKind
from copilot_admin.agent.toolkits.arithmetic.units import (
    CURRENCY_SIGNS,
    GLUED_SCALES,
    SCALES,
    UNITS,
)

MAX_DEPTH = 50  # parentheses, signs and powers inside each other
_CONSTANTS = {
    "pi": Decimal("3.14159265358979323846264338327950288419716939937510"),
    "e": Decimal("2.71828182845904523536028747135266249775724709369995"),
}
_SHARES = {
    "%": ShareSign.PERCENT, "percent": ShareSign.PERCENT, "‰": ShareSign.PER_MILLE,
    "bp": ShareSign.BASIS_POINTS, "bps": ShareSign.BASIS_POINTS,
}  # fmt: skip
_INTO = ("in", "to", "as")
_WORDS = (*_INTO, "of", "mod")


class Parser:
    """One reading of one calculation.

    From the loosest to the tightest: `in`; + and -; *, /, mod and `of`; a sign before; ^; a unit,
    a scale or % behind.
    """

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._place = 0
        self._depth = 0

    def result(self) -> Quantity:
        """Parses and computes the whole expression.

        Raises:
            ValueError: It is not one, or it has no result.
        """
        value = self._sum()
        if self._takes(*_INTO):
            value = self._converted(value)
        if self._next.kind is not TokenKind.END:
            self._refuse("an operator such as + or *")
        return value

    def _converted(self, value: Quantity) -> Quantity:
        if (share := _SHARES.get(self._next.text)) is not None:
            self._place += 1
            return Quantity(value.number("What becomes a percentage"), share=share)
        target = self._product()
        if not target.units or target.amount != 1:
            raise ValueError("After 'in' stands a unit, as in 5300 m in km.")
        return value.counted_like(target)

    def _sum(self) -> Quantity:
        value = self._product()
        while sign := self._takes("+", "-"):
            other = self._product()
            value = value + other if sign == "+" else value - other
        return value

    def _product(self) -> Quantity:
        value = self._signed()
        while sign := self._takes("*", "/", "mod", "of", "%"):
            if sign == "of" and value.share is None:
                raise ValueError("'of' follows a percentage: 15% of 80. To divide, write 20 / 80.")
            other = self._signed()
            if sign in ("*", "of"):
                value = value * other
            else:
                value = value / other if sign == "/" else value % other
        return value

    def _signed(self) -> Quantity:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ValueError(f"This is nested deeper than {MAX_DEPTH} levels. Split it.")
        if sign := self._takes("-", "+"):
            value = self._signed()
            value = -value if sign == "-" else value
        else:
            value = self._quantity()
            if self._takes("^"):
                value = value ** self._signed()
        self._depth -= 1
        return value

    def _quantity(self) -> Quantity:
        value = self._behind(self._atom())
        while self._next.text in ("%", "‰") and not self._is_remainder():
            value = self._shared(value, self._taken().text)
        return value

    def _atom(self) -> Quantity:
        token = self._next
        if token.kind is TokenKind.NUMBER:
            return self._with_scale(Quantity(self._taken().value), glued=True)
        if self._takes("("):
            value = self._sum()
            self._expect(")")
            return value
        if sign := self._takes(*CURRENCY_SIGNS):
            return self._money(sign)
        if token.kind is TokenKind.NAME and token.text not in _WORDS:
            return self._named(self._taken().text)
        self._refuse("a number")

    def _money(self, sign: str) -> Quantity:
        if self._next.kind is not TokenKind.NUMBER:
            self._refuse("an amount")
        amount = self._with_scale(self._atom(), glued=False)
        return amount * _one(CURRENCY_SIGNS[sign])

    def _named(self, name: str) -> Quantity:
        if self._takes("("):
            function = FUNCTIONS.get(name.lower())
            if function is None:
                raise ValueError(f"There is no function {name!r}. Known: {', '.join(FUNCTIONS)}.")
            return function(*self._arguments())
        if name in _CONSTANTS:
            return Quantity(_CONSTANTS[name])
        if name in UNITS:
            return self._unit(name)
        raise ValueError(f"{name!r} is not known: it is no unit, no constant and no function.")

    def _arguments(self) -> list[Quantity]:
        values: list[Quantity] = []
        while not self._takes(")"):
            if values:
                self._expect(",")
            values.append(self._sum())
        return values

    def _unit(self, name: str) -> Quantity:
        unit = _one(name)
        if self._next.text != "^":
            return unit
        self._place += 1
        sign = self._takes("-", "+")
        if self._next.kind is not TokenKind.NUMBER:
            self._refuse("a whole number")
        power = self._taken().value
        return unit ** Quantity(-power if sign == "-" else power)

    def _behind(self, value: Quantity) -> Quantity:
        value = self._with_scale(value, glued=False)
        token = self._next
        if sign := self._takes(*CURRENCY_SIGNS):
            return self._measured(value, _one(CURRENCY_SIGNS[sign]))
        if token.kind is not TokenKind.NAME or token.text in _WORDS:
            return value
        self._place += 1
        if token.text in _SHARES:
            return self._shared(value, token.text)
        if token.text in UNITS:
            return self._measured(value, self._unit(token.text))
        raise ValueError(f"{token.text!r} is not a unit that is known here.")

    def _with_scale(self, value: Quantity, *, glued: bool) -> Quantity:
        scales = GLUED_SCALES if glued else SCALES
        token = self._next
        if token.kind is TokenKind.NAME and token.text in scales and (token.glued or not glued):
            self._place += 1
            return value.scaled(Decimal(10) ** scales[token.text])
        return value

    def _measured(self, value: Quantity, unit: Quantity) -> Quantity:
        if value.units or value.share is not None:
            raise ValueError(f"{value} has two units. Write * or / between them.")
        return value * unit

    def _shared(self, value: Quantity, mark: str) -> Quantity:
        share = _SHARES[mark]
        if value.units or value.share is not None:
            raise ValueError(f"{value} cannot be a percentage as well.")
        return Quantity(value.amount / share.per, share=share)

    def _is_remainder(self) -> bool:
        mark, after = self._next, self._tokens[self._place + 1]
        starts_value = after.kind in (TokenKind.NUMBER, TokenKind.NAME) or after.text == "("
        if mark.text != "%" or not starts_value or after.text in _WORDS:
            return False
        if mark.glued != after.glued:
            raise ValueError("Write 15% of 80 for a share, or 15 mod 80 for a remainder.")
        return True

    @property
    def _next(self) -> Token:
        return self._tokens[self._place]

    def _taken(self) -> Token:
        token = self._next
        self._place += token.kind is not TokenKind.END
        return token

    def _takes(self, *texts: str) -> str | None:
        if self._next.kind in (TokenKind.SIGN, TokenKind.NAME) and self._next.text in texts:
            return self._taken().text
        return None

    def _expect(self, sign: str) -> None:
        if not self._takes(sign):
            self._refuse(f"{sign!r}")

    def _refuse(self, wanted: str) -> NoReturn:
        before = " ".join(
            token.text for token in self._tokens[max(self._place - 3, 0) : self._place]
        )
        where = f"After {before!r}" if before else "At the beginning"
        found = self._next.text if self._next.kind is TokenKind.END else repr(self._next.text)
        raise ValueError(f"{where} {wanted} was expected, not {found}.")


def _one(name: str) -> Quantity:
    return Quantity(Decimal(1), ((UNITS[name], 1),))
