"""Calculations in analysts' notation: exact decimals, percent, currencies, finance functions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import (
    Context,
    Decimal,
    DecimalException,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    Underflow,
    localcontext,
)
import re
from typing import NoReturn

from copilot_admin.agent.toolkits.arithmetic_functions import FUNCTIONS, VARIADIC, ResultUnit

PRECISION = 50  # significant digits
SHOWN_DIGITS = 12  # after the point, or after the first digit that is not zero
MAX_LENGTH = 1000  # characters of one calculation
MAX_DEPTH = 50  # parentheses, signs and powers inside each other
_MIN_PLAIN_SIZE = -15  # a number below 1e-15 is written with an exponent
_MAX_EXPONENT = 9999
_CONTEXT = Context(
    prec=PRECISION,
    Emax=_MAX_EXPONENT,
    Emin=-_MAX_EXPONENT,
    traps=[DivisionByZero, InvalidOperation, Overflow, Underflow],
)
_SHARES = {"%": 100, "bp": 10_000}  # parts of 1
_SHARE_NAMES = {"%": "%", "bp": "bp", "percent": "%", "bps": "bp"}
_CURRENCY_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR"}
_CURRENCY = re.compile(r"[A-Z]{3}")  # ISO 4217
_SCALES = {
    "k": 3, "K": 3, "thousand": 3,
    "m": 6, "M": 6, "mn": 6, "mln": 6, "MM": 6, "million": 6,
    "b": 9, "B": 9, "bn": 9, "bln": 9, "billion": 9,
    "T": 12, "tn": 12, "trn": 12, "trillion": 12,
}  # fmt: skip
_CONSTANTS = {
    "pi": Decimal("3.14159265358979323846264338327950288419716939937510"),
    "e": Decimal("2.71828182845904523536028747135266249775724709369995"),
}
_WORDS = ("in", "to", "as", "of", "mod")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+)"
    r"|(?P<name>[A-Za-z]+[0-9]*)|(?P<sign>\*\*|[-+*/^(),%$€£¥₹]))\s*",
    re.ASCII,
)
_OTHER_SIGNS = str.maketrans({"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/"})  # noqa: RUF001


def calculate(expression: str) -> str:
    """Evaluate an expression and format the result as people write it.

    Args:
        expression: Numbers, currencies, + - * / ^ %, mod, `of`, parentheses and functions.

    Returns:
        The result without digits that are rounding noise.

    Raises:
        ValueError: It is not arithmetic, or has no result; the text describes a valid expression.

    Examples:
        >>> calculate("200 + 10%"), calculate("15% of 80"), calculate("0.1 + 0.2")
        ('220', '12', '0.3')
        >>> calculate("$1.5m / 30"), calculate("3.5% + 25 bp"), calculate("0.0025 in bp")
        ('50000 USD', '3.75%', '25 bp')
        >>> calculate("round(pmt(5%/12, 360, 300000 USD), 2)")
        '-1610.46 USD'
    """
    with localcontext(_CONTEXT):
        try:
            return str(_Parser(_tokenize(expression)).result())
        except (Overflow, Underflow):
            raise ValueError(
                f"A step is beyond 10^{_MAX_EXPONENT} or nearer to zero than 10^-{_MAX_EXPONENT}."
                " Use smaller numbers."
            ) from None
        except DivisionByZero:
            raise ValueError("This divides by zero, which has no result.") from None
        except DecimalException:
            raise ValueError(
                "A step has no real number as its result, as the root of a negative number has"
                " none, or needs too many digits."
            ) from None


@dataclass(frozen=True, slots=True)
class _Quantity:
    """A number, an amount of a currency, or a share, whose amount is a fraction: 5% is 0.05."""

    amount: Decimal
    unit: str = ""

    @property
    def is_share(self) -> bool:
        return self.unit in _SHARES

    @property
    def shown(self) -> Decimal:
        """The number before the unit."""
        return self.amount * _SHARES.get(self.unit, 1)

    def __str__(self) -> str:
        space = "" if self.unit == "%" else " "
        return f"{_format(self.shown)}{space}{self.unit}".rstrip()

    def __add__(self, other: "_Quantity") -> "_Quantity":
        if other.is_share and not self.is_share:
            return replace(self, amount=self.amount * (1 + other.amount))
        if self.is_share != other.is_share:
            raise ValueError(
                f"{self} and {other} cannot be put together: only one of them is a percentage."
                " Write the number first, as in 200 + 10%, or both as percentages."
            )
        unit = self.unit if self.is_share else _common_currency((self, other))
        return _Quantity(self.amount + other.amount, unit)

    def __mul__(self, other: "_Quantity") -> "_Quantity":
        if self.is_share and other.is_share:
            return replace(self, amount=self.amount * other.amount)  # half of 20% is 10%
        if self.unit == other.unit != "":
            raise ValueError(f"{self} and {other} cannot be multiplied.")
        return _Quantity(self.amount * other.amount, _common_currency((self, other)))

    def __truediv__(self, other: "_Quantity") -> "_Quantity":
        currency = _common_currency((self, other))
        has_both = not self.is_share and self.unit == other.unit
        return _Quantity(self.amount / other.amount, "" if has_both else currency)


def _common_currency(quantities: Sequence[_Quantity]) -> str:
    currencies = {one.unit for one in quantities if not one.is_share} - {""}
    if len(currencies) > 1:
        raise ValueError(
            f"{' and '.join(sorted(currencies))} cannot be put together: no rate is known here."
            " Multiply by the rate and leave the currency out: 100 * 1.1."
        )
    return next(iter(currencies), "")


def _format(number: Decimal) -> str:
    if not number:
        return "0"
    size = number.adjusted()
    if not _MIN_PLAIN_SIZE <= size < PRECISION:
        context = Context(prec=SHOWN_DIGITS)
        return str(context.plus(number).normalize(context))
    context = Context(prec=SHOWN_DIGITS + max(size + 1, 0))
    return f"{context.plus(number).normalize(context):f}"


@dataclass(frozen=True, slots=True)
class _Token:
    """A part of the text; an empty kind marks the end."""

    kind: str
    text: str


def _tokenize(text: str) -> list[_Token]:
    text = text.translate(_OTHER_SIGNS).strip().removeprefix("=").removesuffix("=").strip()
    if not text:
        raise ValueError("There is nothing to calculate. Send an expression such as 2 + 2.")
    if len(text) > MAX_LENGTH:
        raise ValueError(f"The expression is longer than {MAX_LENGTH} characters. Split it.")
    tokens: list[_Token] = []
    calls: list[str] = []  # for each open parenthesis: the function before it, or ""
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None or match.lastgroup is None:
            raise ValueError(
                f"{text[place]!r} is not part of arithmetic. Use numbers, + - * / ^ %, currencies,"
                " parentheses and functions such as sqrt(2)."
            )
        piece, place = match[match.lastgroup], match.end()
        function = next(filter(None, reversed(calls)), "")
        if match.lastgroup == "number" and "," in piece and function:
            # With a fixed number of arguments the comma must be a separator.
            if function in VARIADIC or ", " in text:
                raise ValueError(
                    f"Between parentheses {piece} could be one number or several. Write a space"
                    " after a comma between arguments, and numbers without commas."
                )
            piece = piece.partition(",")[0]
            place = match.start("number") + len(piece)
        if piece == "(":
            calls.append(tokens[-1].text.lower() if tokens and tokens[-1].kind == "name" else "")
        elif piece == ")" and calls:
            calls.pop()
        tokens.append(_Token(match.lastgroup, "^" if piece == "**" else piece))
    return [*tokens, _Token("", "the end")]


class _Parser:
    """Recursive descent parser of a calculation that computes the result as it parses.

    From lowest to highest precedence: `in`; + and -; *, /, mod and `of`; unary signs; ^; postfix
    scales, currencies and %.
    """

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens = tokens
        self._place = 0
        self._depth = 0

    def result(self) -> _Quantity:
        value = self._sum()
        if self._accept("in", "to", "as"):
            unit = _SHARE_NAMES.get(self._next.text)
            if unit is None:
                raise ValueError("Use % or bp after 'in', as in 0.05 in %.")
            self._place += 1
            value = _Quantity(value.amount, unit)
        if self._next.kind:
            self._fail("an operator such as + or *")
        return value

    def _sum(self) -> _Quantity:
        value = self._product()
        while sign := self._accept("+", "-"):
            other = self._product()
            value = value + (other if sign == "+" else replace(other, amount=-other.amount))
        return value

    def _product(self) -> _Quantity:
        value = self._signed()
        while sign := self._accept("*", "/", "mod", "of"):
            if sign == "of" and not value.is_share:
                raise ValueError("'of' follows a percentage: 15% of 80. To divide, write 20 / 80.")
            other = self._signed()
            if sign == "mod":
                rest = value.amount % other.amount
                has_other_sign = rest and (rest < 0) != (other.amount < 0)
                value = replace(value, amount=rest + other.amount if has_other_sign else rest)
            else:
                value = value / other if sign == "/" else value * other
        return value

    def _signed(self) -> _Quantity:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ValueError(f"This is nested deeper than {MAX_DEPTH} levels. Split it.")
        if sign := self._accept("-", "+"):
            value = self._signed()
            value = replace(value, amount=-value.amount) if sign == "-" else value
        else:
            value = self._with_suffixes(self._atom())
            if self._accept("^"):
                value = _Quantity(value.amount ** self._signed().amount)
        self._depth -= 1
        return value

    def _atom(self) -> _Quantity:
        token = self._next
        if token.kind == "number":
            self._place += 1
            return _Quantity(+Decimal(token.text.replace(",", "")))
        if self._accept("("):
            value = self._sum()
            self._expect(")")
            return value
        if sign := self._accept(*_CURRENCY_SIGNS):
            return self._amount_of(_CURRENCY_SIGNS[sign])
        if token.kind == "name" and token.text not in _WORDS:
            self._place += 1
            return self._named(token.text)
        self._fail("a number")

    def _named(self, name: str) -> _Quantity:
        if self._accept("("):
            return self._call(name.lower())
        if name in _CONSTANTS:
            return _Quantity(_CONSTANTS[name])
        if _CURRENCY.fullmatch(name) and self._next.kind == "number":  # USD 5
            return self._amount_of(name)
        raise ValueError(f"{name!r} is not known: it is no constant and no function.")

    def _amount_of(self, currency: str) -> _Quantity:
        if self._next.kind != "number":
            self._fail("an amount")
        return replace(self._scaled(self._atom()), unit=currency)

    def _call(self, name: str) -> _Quantity:
        values: list[_Quantity] = []
        while not self._accept(")"):
            if values:
                self._expect(",")
            values.append(self._sum())
        function = FUNCTIONS.get(name)
        if function is None:
            raise ValueError(f"There is no function {name!r}. Known: {', '.join(FUNCTIONS)}.")
        match function.unit:
            case ResultUnit.NONE:
                return _Quantity(function(*(one.amount for one in values)))
            case ResultUnit.SHARE:
                return _Quantity(function(*(one.amount for one in values)), "%")
            case ResultUnit.CURRENCY:
                currency = _common_currency(values)
                return _Quantity(function(*(one.amount for one in values)), currency)
        unit = values[0].unit if values else ""
        shares = _SHARES.get(unit, 1)
        shown = (one.amount * shares if one.is_share else one.amount for one in values)
        result = function(*shown)  # round the 12.3 of 12.3%
        return _Quantity(result / shares, unit if shares > 1 else _common_currency(values))

    def _with_suffixes(self, value: _Quantity) -> _Quantity:
        value = self._scaled(value)
        token = self._next
        if token.kind == "name" and token.text not in _WORDS:
            unit = _SHARE_NAMES.get(token.text, token.text)
            if unit not in _SHARES and not _CURRENCY.fullmatch(unit):
                raise ValueError(f"{token.text!r} is not a currency or percentage. Leave it out.")
        elif token.text == "%" or token.text in _CURRENCY_SIGNS:
            unit = _CURRENCY_SIGNS.get(token.text, token.text)
        else:
            return value
        self._place += 1
        if value.unit:
            raise ValueError(f"{value} cannot have {unit} as well.")
        return _Quantity(value.amount / _SHARES.get(unit, 1), unit)

    def _scaled(self, value: _Quantity) -> _Quantity:
        power = _SCALES.get(self._next.text)
        if power is None:
            return value
        self._place += 1
        return replace(value, amount=value.amount.scaleb(power))

    @property
    def _next(self) -> _Token:
        return self._tokens[self._place]

    def _accept(self, *texts: str) -> str:
        token = self._next
        if token.kind not in ("name", "sign") or token.text not in texts:
            return ""
        self._place += 1
        return token.text

    def _expect(self, sign: str) -> None:
        if not self._accept(sign):
            self._fail(repr(sign))

    def _fail(self, expected: str) -> NoReturn:
        before = " ".join(one.text for one in self._tokens[max(self._place - 3, 0) : self._place])
        where = f"After {before!r}" if before else "At the beginning"
        found = repr(self._next.text) if self._next.kind else "the end"
        raise ValueError(f"{where} {expected} was expected, not {found}.")
