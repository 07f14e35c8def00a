"""Calculations as analysts write them: exact decimals, percent, currencies, functions of finance."""

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

from copilot_admin.agent.toolkits.arithmetic_functions import FUNCTIONS, VARIADIC
from copilot_admin.agent.toolkits.quantity import PRECISION, SHARES, Quantity

MAX_LENGTH = 1000  # characters of one calculation
MAX_DIGITS = 50  # of one number
MAX_DEPTH = 50  # parentheses, signs and powers inside each other
_MAX_EXPONENT = 9999
_CONTEXT = Context(
    prec=PRECISION,
    Emax=_MAX_EXPONENT,
    Emin=-_MAX_EXPONENT,
    traps=[DivisionByZero, InvalidOperation, Overflow, Underflow],
)
_SHARE_NAMES = {**{name: name for name in SHARES}, "percent": "%", "bps": "bp"}
_CURRENCY_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR"}
_CURRENCY = re.compile(r"[A-Z]{3}")  # ISO 4217
_SCALES = {
    "k": 3, "K": 3, "thousand": 3,
    "M": 6, "mn": 6, "mln": 6, "MM": 6, "million": 6,
    "b": 9, "bn": 9, "bln": 9, "billion": 9,
    "T": 12, "tn": 12, "trn": 12, "trillion": 12,
}  # fmt: skip
_GLUED_SCALES = _SCALES | {"m": 6, "B": 9}  # only right behind a number: 1.5m
_CONSTANTS = {
    "pi": Decimal("3.14159265358979323846264338327950288419716939937510"),
    "e": Decimal("2.71828182845904523536028747135266249775724709369995"),
}
_WORDS = ("in", "to", "as", "of", "mod")
_GROUPED = re.compile(r"[0-9]{1,3}([,_'\u00a0\u202f])[0-9]{3}(?:\1[0-9]{3})*(?![0-9])")
_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+(?:[,_'\u00a0\u202f][0-9]+)*(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z]+[0-9]*)"
    r"|(?P<sign>\*\*|[-+*/^(),%‰$€£¥₹])"
)
_OTHER_SIGNS = str.maketrans({"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/"})  # noqa: RUF001


def calculate(expression: str) -> str:
    """Work an expression out and write the result as people do.

    Args:
        expression: Numbers, currencies, + - * / ^ %, mod, `of`, parentheses and functions.

    Returns:
        The result without the digits that only rounding left behind.

    Raises:
        ValueError: It is not arithmetic, or has no result; the text says what to write instead.

    Examples:
        >>> calculate("200 + 10%"), calculate("15% of 80"), calculate("0.1 + 0.2")
        ('220', '12', '0.3')
        >>> calculate("$1.5m / 30"), calculate("3.5% + 25 bp")
        ('50000 USD', '3.75%')
        >>> calculate("round(pmt(5%/12, 360, 300000 USD), 2)")
        '-1610.46 USD'
    """
    with localcontext(_CONTEXT):
        try:
            return str(_Parser(expression).result())
        except (Overflow, Underflow):
            raise ValueError(
                f"A step is beyond 10^{_MAX_EXPONENT} or nearer to zero than 10^-{_MAX_EXPONENT}."
                " Use smaller numbers."
            ) from None
        except DecimalException:
            raise ValueError(
                "A step has no real number as its result, as the root of a negative number has"
                " none, or needs too many digits."
            ) from None


@dataclass(frozen=True, slots=True)
class _Token:
    """A part of the text; an empty kind says that it ends."""

    kind: str
    text: str
    is_glued: bool


def _tokenize(text: str) -> list[_Token]:
    text = text.translate(_OTHER_SIGNS).strip().removeprefix("=").removesuffix("=").rstrip()
    if not text.strip():
        raise ValueError("There is nothing to calculate. Send an expression such as 2 + 2.")
    if len(text) > MAX_LENGTH:
        raise ValueError(f"The expression is longer than {MAX_LENGTH} characters. Split it.")
    tokens: list[_Token] = []
    calls: list[str] = []  # for each open parenthesis: the name before it, if there is one
    place = 0
    while place < len(text):
        start = place
        while text[place].isspace():
            place += 1
        match = _TOKEN.match(text, place)
        if match is None or match.lastgroup is None:
            raise ValueError(
                f"{text[place]!r} is not part of arithmetic. Use numbers, + - * / ^ %, currencies,"
                " parentheses and functions such as sqrt(2)."
            )
        piece = match.group()
        if match.lastgroup == "number":
            piece = _check_number(
                piece, text, place, function=next(filter(None, reversed(calls)), "")
            )
        elif piece == "(":
            calls.append(tokens[-1].text if tokens and tokens[-1].kind == "name" else "")
        elif piece == ")" and calls:
            calls.pop()
        kept = "^" if piece == "**" else piece
        tokens.append(_Token(match.lastgroup, kept, is_glued=start == place))
        place += len(piece)
    return [*tokens, _Token("", "the end", is_glued=False)]


def _check_number(piece: str, text: str, place: int, *, function: str) -> str:
    """Return a number, of which a comma between arguments is no part."""
    if function and "," in piece:
        grouped = _GROUPED.match(text, place)
        # Elsewhere the number of arguments says whether a comma separates.
        is_unsure = function.lower() in VARIADIC or re.search(r",\s", text)
        if grouped and grouped[1] == "," and is_unsure:
            raise ValueError(
                f"Between parentheses {grouped.group()} could be one number or several. Write a"
                " space after a comma between arguments, and numbers without commas."
            )
        piece = piece.partition(",")[0]
    digits = re.split(r"[.eE]", piece)[0]
    if digits and not digits.isdecimal() and not _GROUPED.fullmatch(digits):
        raise ValueError(
            f"{piece!r} is not a number here. Use a point for decimals, and commas only between"
            " groups of three digits: 1,234.5."
        )
    return piece


def _number(piece: str) -> Decimal:
    plain = re.sub(r"[,_'\u00a0\u202f]", "", piece)
    mantissa, _, exponent = plain.lower().partition("e")
    if len(mantissa.replace(".", "")) > MAX_DIGITS:
        raise ValueError(f"A number has more than {MAX_DIGITS} digits. Round it first.")
    exponent = exponent.lstrip("+-").lstrip("0")
    if len(exponent) > len(str(_MAX_EXPONENT)) or int(exponent or 0) > _MAX_EXPONENT:
        raise ValueError(f"A number has an exponent beyond {_MAX_EXPONENT}. Use a smaller one.")
    return Decimal(plain)


class _Parser:
    """Recursive descent over the tokens of a calculation, which works it out on the way.

    From the loosest to the tightest: `in`; + and -; *, /, mod and `of`; a sign before; ^; a scale,
    a currency or % behind.
    """

    def __init__(self, text: str) -> None:
        self._tokens = _tokenize(text)
        self._place = 0
        self._depth = 0

    def result(self) -> Quantity:
        value = self._sum()
        if self._accept("in", "to", "as"):
            share = _SHARE_NAMES.get(self._next.text)
            if share is None:
                raise ValueError("Use % or bp after 'in', as in 0.05 in %.")
            self._place += 1
            value = Quantity(value.number("What becomes a percentage"), share)
        if self._next.kind:
            self._fail("an operator such as + or *")
        return value

    def _sum(self) -> Quantity:
        value = self._product()
        while sign := self._accept("+", "-"):
            other = self._product()
            value = value + (other if sign == "+" else -other)
        return value

    def _product(self) -> Quantity:
        value = self._signed()
        while sign := self._accept("*", "/", "mod", "of", "%"):
            if sign == "of" and not value.is_share:
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
        if sign := self._accept("-", "+"):
            value = self._signed()
            value = -value if sign == "-" else value
        else:
            value = self._with_suffixes(self._atom())
            if self._accept("^"):
                value = value ** self._signed()
        self._depth -= 1
        return value

    def _atom(self) -> Quantity:
        token = self._next
        if token.kind == "number":
            self._place += 1
            return self._scaled(Quantity(_number(token.text)), _GLUED_SCALES, is_glued=True)
        if self._accept("("):
            value = self._sum()
            self._expect(")")
            return value
        if sign := self._accept(*_CURRENCY_SIGNS):
            if self._next.kind != "number":
                self._fail("an amount")
            return replace(self._scaled(self._atom(), _SCALES), unit=_CURRENCY_SIGNS[sign])
        if token.kind == "name" and token.text not in _WORDS:
            self._place += 1
            return self._named(token.text)
        self._fail("a number")

    def _named(self, name: str) -> Quantity:
        if self._accept("("):
            if name.lower() not in FUNCTIONS:
                raise ValueError(f"There is no function {name!r}. Known: {', '.join(FUNCTIONS)}.")
            return FUNCTIONS[name.lower()](*self._arguments())
        if name in _CONSTANTS:
            return Quantity(_CONSTANTS[name])
        if _CURRENCY.fullmatch(name) and self._next.kind == "number":  # USD 5
            return replace(self._scaled(self._atom(), _SCALES), unit=name)
        raise ValueError(f"{name!r} is not known: it is no constant and no function.")

    def _arguments(self) -> list[Quantity]:
        values: list[Quantity] = []
        while not self._accept(")"):
            if values:
                self._expect(",")
            values.append(self._sum())
        return values

    def _with_suffixes(self, value: Quantity) -> Quantity:
        value = self._scaled(value, _SCALES)
        token = self._next
        if sign := self._accept(*_CURRENCY_SIGNS):
            value = self._with_unit(value, _CURRENCY_SIGNS[sign])
        elif token.kind == "name" and token.text not in _WORDS:
            self._place += 1
            unit = _SHARE_NAMES.get(token.text, token.text)
            if unit not in SHARES and not _CURRENCY.fullmatch(unit):
                raise ValueError(f"{token.text!r} is not a currency or percentage. Leave it out.")
            value = self._with_unit(value, unit)
        while self._next.text in ("%", "‰") and not self._is_remainder():
            value = self._with_unit(value, self._next.text)
            self._place += 1
        return value

    def _scaled(
        self, value: Quantity, scales: dict[str, int], *, is_glued: bool = False
    ) -> Quantity:
        token = self._next
        if token.kind != "name" or token.text not in scales or (is_glued and not token.is_glued):
            return value
        self._place += 1
        return value.scaled(Decimal(10) ** scales[token.text])

    def _with_unit(self, value: Quantity, unit: str) -> Quantity:
        if value.unit:
            raise ValueError(f"{value} cannot have {unit} as well.")
        return Quantity(value.amount / SHARES.get(unit, 1), unit)

    def _is_remainder(self) -> bool:
        mark, after = self._next, self._tokens[self._place + 1]
        starts_value = after.kind in ("number", "name") or after.text == "("
        if mark.text != "%" or not starts_value or after.text in _WORDS:
            return False
        if mark.is_glued != after.is_glued:
            raise ValueError("Write 15% of 80 for a share, or 15 mod 80 for a remainder.")
        return True

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
