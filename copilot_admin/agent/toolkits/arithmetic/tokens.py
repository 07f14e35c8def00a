"""Cuts the text of a calculation into numbers, names and signs."""

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, auto
import re

from copilot_admin.agent.toolkits.arithmetic.functions import VARIADIC

MAX_LENGTH = 1000  # characters of one calculation
MAX_DIGITS = 50  # of one number
_MAX_EXPONENT = 9999

_GROUPED = re.compile(r"[0-9]{1,3}([,_'\u00a0\u202f])[0-9]{3}(?:\1[0-9]{3})*(?![0-9])")
_SPACED_COMMA = re.compile(r",\s")
_PLAIN = re.compile(r"[0-9]*")
_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<number>(?:[0-9]+(?:[,_'\u00a0\u202f][0-9]+)*(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z]+[0-9]*)"
    r"|(?P<sign>\*\*|[-+*/^(),%‰$€£¥₹])"
)
_SAME = str.maketrans({"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/"})  # noqa: RUF001  # dashes, times


class TokenKind(Enum):
    """What a token is."""

    NUMBER = auto()
    NAME = auto()
    SIGN = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text; `glued` says that no space stands before it."""

    kind: TokenKind
    text: str
    glued: bool = False
    value: Decimal = Decimal(0)


def tokens(text: str) -> list[Token]:
    """Cuts a calculation into its tokens; the last one says that it ends.

    Raises:
        ValueError: The text is empty or too long, or something in it is not arithmetic.
    """
    text = text.translate(_SAME).strip().removeprefix("=").removesuffix("=")
    if not text.strip():
        raise ValueError("There is nothing to calculate. Send an expression such as 2 + 2.")
    if len(text) > MAX_LENGTH:
        raise ValueError(f"The expression is longer than {MAX_LENGTH} characters. Split it.")
    found: list[Token] = []
    calls: list[str] = []  # for each open parenthesis: the name before it, if there is one
    glued, place = True, 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise ValueError(_not_arithmetic(text[place]))
        piece = match.group()
        if match.lastgroup == "number":
            piece = _whole_number(text, place, piece, calls=calls)
            found.append(Token(TokenKind.NUMBER, piece, glued, _value(piece)))
        elif match.lastgroup == "name":
            found.append(Token(TokenKind.NAME, piece, glued))
        elif match.lastgroup == "sign":
            _note_parenthesis(piece, found, calls)
            found.append(Token(TokenKind.SIGN, "^" if piece == "**" else piece, glued))
        glued = match.lastgroup != "space"
        place += len(piece)
    return [*found, Token(TokenKind.END, "the end", glued)]


def _note_parenthesis(sign: str, found: list[Token], calls: list[str]) -> None:
    if sign == "(":
        calls.append(found[-1].text if found and found[-1].kind is TokenKind.NAME else "")
    elif sign == ")" and calls:
        calls.pop()


def _whole_number(text: str, place: int, piece: str, *, calls: list[str]) -> str:
    function = next(filter(None, reversed(calls)), None)
    if function and "," in piece:
        grouped = _GROUPED.match(text, place)
        # Elsewhere the number of arguments says what a comma was meant to be.
        unsure = function.lower() in VARIADIC or _SPACED_COMMA.search(text)
        if grouped and grouped[1] == "," and unsure:
            raise ValueError(
                f"Between parentheses {grouped.group()} could be one number or several. Write a"
                " space after a comma between arguments, and numbers without commas."
            )
        piece = piece.partition(",")[0]
    digits = re.split(r"[.eE]", piece)[0]
    if not _PLAIN.fullmatch(digits) and not _GROUPED.fullmatch(digits):
        raise ValueError(
            f"{piece!r} is not a number here. Use a point for decimals, and commas only between"
            " groups of three digits: 1,234.5."
        )
    return piece


def _value(piece: str) -> Decimal:
    plain = re.sub(r"[,_'\u00a0\u202f]", "", piece)
    mantissa, _, exponent = plain.lower().partition("e")
    if len(mantissa.replace(".", "")) > MAX_DIGITS:
        raise ValueError(f"A number has more than {MAX_DIGITS} digits. Round it first.")
    exponent = exponent.lstrip("+-").lstrip("0")
    if len(exponent) > len(str(_MAX_EXPONENT)) or int(exponent or 0) > _MAX_EXPONENT:
        raise ValueError(f"A number has an exponent beyond {_MAX_EXPONENT}. Use a smaller one.")
    return Decimal(plain)


def _not_arithmetic(character: str) -> str:
    return (
        f"{character!r} is not part of arithmetic. Use numbers, units, + - * / ^ %, parentheses"
        " and functions such as sqrt(2)."
    )
