"""Calculations in analysts' notation: exact decimals, percent, currencies, finance functions.

A calculation is translated into a Python expression of names, operators, calls and subscripts, in
which a unit is a subscript (`5 USD` becomes `n0["USD"]`), and only these are evaluated.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
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
import operator
import re

from copilot_admin.agent.toolkits.arithmetic_functions import FUNCTIONS

PRECISION = 50  # significant digits
SHOWN_DIGITS = 12  # after the point, or after the first digit that is not zero
MAX_LENGTH = 1000  # characters of one calculation
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
# These operators have the same precedence in Python.
_OPERATORS = {"^": "**", "**": "**", "of": "@", "mod": "%", **{sign: sign for sign in "-+*/(),"}}
_TOKEN = re.compile(
    r"\s*(?:(?:(?P<currency>[$€£¥₹]|[A-Z]{3}(?=\s))\s*)?"
    r"(?P<number>(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+)"
    rf"(?:\s*(?P<scale>{'|'.join(_SCALES)})(?![A-Za-z0-9]))?"
    r"|(?P<word>[A-Za-z]+[0-9]*|\*\*|[-+*/^(),%$€£¥₹]))\s*",
    re.ASCII,
)
_TARGET_UNIT = re.compile(r"(.+?)(?<![A-Za-z])(?:in|to|as)(?![A-Za-z])\s*(\S+)", re.DOTALL)
_OTHER_SIGNS = str.maketrans({"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/"})  # noqa: RUF001
_INCOMPLETE = (
    "This is not a complete calculation. Write an operator between two values, a value after each"
    " operator, decimals with a point, and close each parenthesis."
)


def calculate(expression: str) -> str:
    """Evaluate an expression and format the result as people write it, without rounding noise.

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
    text = expression.translate(_OTHER_SIGNS).strip().removeprefix("=").removesuffix("=").strip()
    if not text:
        raise ValueError("There is nothing to calculate. Send an expression such as 2 + 2.")
    if len(text) > MAX_LENGTH:
        raise ValueError(f"The expression is longer than {MAX_LENGTH} characters. Split it.")
    with localcontext(_CONTEXT):
        try:
            return str(_result(text))
        except (SyntaxError, MemoryError, RecursionError):
            raise ValueError(_INCOMPLETE) from None
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

    def __str__(self) -> str:
        space = "" if self.unit == "%" else " "
        return f"{_format(self.amount * _SHARES.get(self.unit, 1))}{space}{self.unit}".rstrip()

    def __neg__(self) -> "_Quantity":
        return replace(self, amount=-self.amount)

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

    def __matmul__(self, other: "_Quantity") -> "_Quantity":
        if not self.is_share:
            raise ValueError("'of' follows a percentage: 15% of 80. To divide, write 20 / 80.")
        return self * other

    def __truediv__(self, other: "_Quantity") -> "_Quantity":
        currency = _common_currency((self, other))
        has_both = not self.is_share and self.unit == other.unit
        return _Quantity(self.amount / other.amount, "" if has_both else currency)

    def __mod__(self, other: "_Quantity") -> "_Quantity":
        rest = self.amount % other.amount
        has_other_sign = rest and (rest < 0) != (other.amount < 0)
        return replace(self, amount=rest + other.amount if has_other_sign else rest)

    def __getitem__(self, suffix: str) -> "_Quantity":
        if suffix in _SCALES:
            return replace(self, amount=self.amount.scaleb(_SCALES[suffix]))
        if self.unit:
            raise ValueError(f"{self} cannot have {suffix} as well.")
        return _Quantity(self.amount / _SHARES.get(suffix, 1), suffix)


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
    is_plain = _MIN_PLAIN_SIZE <= size < PRECISION
    context = Context(prec=SHOWN_DIGITS + (max(size + 1, 0) if is_plain else 0))
    return format(context.plus(number).normalize(context), "f" if is_plain else "")


def _result(text: str) -> _Quantity:
    unit = ""
    if match := _TARGET_UNIT.fullmatch(text):
        text, unit = match[1], _SHARE_NAMES.get(match[2], "")
        if not unit:
            raise ValueError("Use % or bp after 'in', as in 0.05 in %.")
    source, numbers = _translate(text)
    value = _evaluate(ast.parse(source.strip(), mode="eval").body, numbers)
    return _Quantity(value.amount, unit or value.unit)


def _translate(text: str) -> tuple[str, Mapping[str, _Quantity]]:
    """Return a Python expression and the numbers in it by name."""
    source = ""  # a blank follows each number
    numbers: dict[str, _Quantity] = {}
    calls: list[str] = []  # for each open parenthesis: the function before it, or ""
    function = ""
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise ValueError(
                f"{text[place]!r} is not part of arithmetic. Use numbers, + - * / ^ %, currencies,"
                " parentheses and functions such as sqrt(2)."
            )
        place, word = match.end(), match["word"] or ""
        if match["number"]:
            number, place = _read_number(match, next(filter(None, reversed(calls)), ""))
            source += _add(number, numbers)
        elif word in _OPERATORS:
            source += f" {_OPERATORS[word]}"
            if word == "(":
                calls.append(function)
                function = ""
            elif word == ")" and calls:
                calls.pop()
        elif source.endswith((" ", ")", "]")):  # after a value
            source += f"[{_read_suffix(word)!r}]"
        elif text[place : place + 1] == "(":
            function = word.lower()
            if function not in FUNCTIONS:
                raise ValueError(
                    f"There is no function {function!r}. Known: {', '.join(FUNCTIONS)}."
                )
            source += function
        else:
            source += _add(_Quantity(_find_constant(word)), numbers)
    return source, numbers


def _add(number: _Quantity, numbers: dict[str, _Quantity]) -> str:
    name = f"n{len(numbers)}"
    numbers[name] = number
    return f"{name} "


def _read_number(match: re.Match[str], function: str) -> tuple[_Quantity, int]:
    """Return a number within the call of a function, and the place of its end."""
    digits, scale, end = match["number"], match["scale"] or "", match.end()
    if "," in digits and function:
        # With a fixed number of arguments the comma must be a separator.
        if "..." in FUNCTIONS[function].usage or ", " in match.string:
            raise ValueError(
                f"Between parentheses {digits} could be one number or several. Write a space"
                " after a comma between arguments, and numbers without commas."
            )
        digits, scale = digits.partition(",")[0], ""
        end = match.start("number") + len(digits)
    currency = match["currency"] or ""
    amount = +Decimal(digits.replace(",", "")).scaleb(_SCALES.get(scale, 0))
    return _Quantity(amount, _CURRENCY_SIGNS.get(currency, currency)), end


def _find_constant(name: str) -> Decimal:
    if name not in _CONSTANTS:
        raise ValueError(f"{name!r} is not known: it is no constant and no function.")
    return _CONSTANTS[name]


def _read_suffix(word: str) -> str:
    unit = _SHARE_NAMES.get(word) or _CURRENCY_SIGNS.get(word, word)
    if unit not in _SHARES and unit not in _SCALES and not _CURRENCY.fullmatch(unit):
        raise ValueError(f"{word!r} is not a currency or percentage. Leave it out.")
    return unit


_OPERATIONS: Mapping[type[ast.operator], Callable[[_Quantity, _Quantity], _Quantity]] = {
    ast.Add: operator.add,
    ast.Sub: lambda left, right: left + -right,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.MatMult: operator.matmul,
    ast.Pow: lambda left, right: _Quantity(left.amount**right.amount),
}


def _evaluate(node: ast.expr, numbers: Mapping[str, _Quantity]) -> _Quantity:
    match node:
        case ast.Name(name) if name in numbers:
            return numbers[name]
        case ast.Subscript(value, ast.Constant(str(suffix))):
            return _evaluate(value, numbers)[suffix]
        case ast.UnaryOp(sign, operand):
            signed = _evaluate(operand, numbers)
            return -signed if isinstance(sign, ast.USub) else signed
        case ast.BinOp(left, sign, right) if operation := _OPERATIONS.get(type(sign)):
            return operation(_evaluate(left, numbers), _evaluate(right, numbers))
        case ast.Call(ast.Name(name), arguments, []) if name in FUNCTIONS:
            return _call(name, [_evaluate(one, numbers) for one in arguments])
    raise SyntaxError


def _call(name: str, values: Sequence[_Quantity]) -> _Quantity:
    usage, apply, result_unit = FUNCTIONS[name]
    unit = {"none": "", "share": "%"}.get(result_unit)
    if unit is None:
        unit = _common_currency(values)
    shares = 1
    if result_unit == "first" and values and values[0].is_share:
        unit = values[0].unit
        shares = _SHARES[unit]  # round the 12.3 of 12.3%
    try:
        result = apply(*(one.amount * shares if one.is_share else one.amount for one in values))
    except TypeError:
        raise ValueError(f"Its arguments are {usage}.") from None
    return _Quantity(result / shares, unit)
