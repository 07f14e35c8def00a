"""Kinds of personal data, and a search for them in linear time.

Source: ISO 13616 and the IBAN registry (lengths), ISO 7064 (MOD 97-10), ISO/IEC 7812-1 (Luhn).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
import re
from typing import TypeAlias
from unicodedata import category, decimal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Span: TypeAlias = tuple[int, int]
# Characters of the IBANs of countries.
_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22,
    "BI": 27, "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27,
    "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27,
    "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32,
    "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19,
    "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18, "NO": 15, "OM": 23, "PK": 24,
    "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24, "SC": 31,
    "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23,
    "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}  # fmt: skip
# The longest has 34 characters; groups have two separators between them at most. The checksum tells
# enough.
_IBAN = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=IBAN)|(?<=iban))"
    r"(?=([A-Za-z]{2}(?:[ ._\t\n-]{0,2}[0-9]){2}(?:[ ._\t\n-]{0,2}[A-Za-z0-9]){11,30}))"
)
# Long words also as the end of others: Sparkonto, bank_account, bankAccount.
_ACCOUNT = r"(?:account|acct|konto|depot|compte|cuenta|rekening|(?<![^\W_])(?:acc|a/c|kto|conto))"
_NUMBER = r"(?:[ ._-]{0,2}(?:number|nummer|numero|num|no|nr|n[º°]|id|#))?"
_IS = r"(?:[ .:#=\"'`*-]{1,6}|[ ](?:is|ist|es|est)[ :]{1,2})"
_DIGITS = r"[0-9](?:[ -]?[0-9]){4,19}"
_NAMED = re.compile(rf"(?=[acdkr]){_ACCOUNT}{_NUMBER}{_IS}({_DIGITS})(?![0-9])", re.IGNORECASE)
_WHOLE_NUMBER = re.compile(_DIGITS)
_NAME = re.compile(rf"{_ACCOUNT}{_NUMBER}$", re.IGNORECASE)
_MAX_KEY = 100
# Behind a comma stands the next column of a table, behind a full stop between digits a fraction.
_CARD = re.compile(r"(?<![0-9])(?<![0-9]\.)[2-6](?:[ \u00a0-]?[0-9]){12,18}")
# As cards have them printed, wherever that begins: a number before it may have taken the first digits.
_PRINTED = re.compile(
    r"(?<![0-9])(?<![0-9]\.)(?=([2-6](?:[0-9]{12,18}"
    r"|[0-9]{3}(?:[ ._-][0-9]{4}){3}(?:[ -]?[0-9]{1,3})?"
    r"|[0-9]{3}[ .-][0-9]{6}[ .-][0-9]{4,5}))(?![0-9]))"
)
_MAIL_HOST = re.compile(r"(?:@|%40)(?:[\w-]{1,63}\.){1,8}[\w-]{2,63}")
_MAX_MAIL_NAME = 64  # before the sign
_IN_MAIL_NAME = frozenset("!#$%&'*+/=?^_`{|}~.-")
_PHONE = re.compile(
    r"(?<![\w+])(?:"
    r"\+[1-9][0-9]{0,2}(?:[ ./()\u00a0-]{0,3}[0-9]){6,12}"  # of any country
    r"|(?<![0-9][./-])(?:"
    r"\([0-9]{2,5}\)[ ]?[0-9]{3,4}[ .-]?[0-9]{3,5}"  # (212) 555-1234
    r"|(?<![0-9][ \u00a0-])(?:"  # what follows may go on a number that stands before it
    r"(?:1[ .-])?[2-9][0-9]{2}([ .-])[2-9][0-9]{2}\1[0-9]{4}"  # 212-555-1234
    r"|(?<![0-9],)(?:"  # a fraction
    r"00[1-9][0-9]{0,2}(?:[ ./()\u00a0-]{0,3}[0-9]){6,12}"
    r"|0[1-9][0-9]{1,4}[ ]?[/-]?[ ]?[0-9]{3}(?:[ -]?[0-9]){2,7}"  # 030 1234567
    r"|0[1-9]([ -])(?!(?:19|20)[0-9]{2}[ -]?(?:19|20))[0-9]{4}[ -]?[0-9]{4}"  # 03-1234-5678
    r"|0[1-9]([ .-])[0-9]{2}(?:\3[0-9]{2}){3}(?!\3[0-9])"  # 01 23 45 67 89
    r")))"
    r")(?![\w]|[.,][0-9])"
)
# Ranges with all of these characters and few letters: ten times as fast as a set of them.
_MAY_CHANGE = re.compile(
    "[\u00a0\u00ad\u034f\u0600-\u33ff\ua000-\uabff\ufe00-\uffff\U0001d7ce-\U0001d7ff]"
)


class DataKind(StrEnum):
    ACCOUNT = "account"
    CARD = "card"
    EMAIL = "email"
    PHONE = "phone"


LABELS: Mapping[DataKind, str | Promise] = {
    DataKind.ACCOUNT: _("Account numbers: IBANs with a valid checksum, numbers after “account”"),
    DataKind.CARD: _("Card numbers: 13 to 19 digits with a valid checksum"),
    DataKind.EMAIL: _("Email addresses"),
    DataKind.PHONE: _("Phone numbers"),
}

# What is stored instead: not translated, as who reads it may have another language.
WORDS: Mapping[DataKind, str] = {
    DataKind.ACCOUNT: "[account number]",
    DataKind.CARD: "[card number]",
    DataKind.EMAIL: "[e-mail address]",
    DataKind.PHONE: "[phone number]",
}


def _plain_sign(code: int) -> str:
    sign = chr(code)
    match category(sign):
        case "Cf":  # soft hyphens, marks of direction, joiners
            return ""
        case "Pd":
            return "-"
        case "Zs":
            return " "
        case "Nd":
            return str(decimal(sign))
    return chr(code - 0xFEE0) if 0xFF01 <= code <= 0xFF5E else sign  # of full width


# Numbers copied from a page have other blanks and hyphens, digits of another width or script, or
# invisible characters between their digits. A reader sees the same number.
_PLAIN = {
    code: plain
    for code in (*range(0x80, 0x10000), *range(0x1D7CE, 0x1D800))
    if (plain := _plain_sign(code)) != chr(code)
}
_PLAIN |= {0x2212: "-", 0x3002: ".", 0x34F: "", **dict.fromkeys(range(0xFE00, 0xFE10), "")}


def plain_spelling(text: str) -> str:
    """Return a text with keyboard digits, blanks and hyphens and no invisible characters."""
    return text.translate(_PLAIN) if _MAY_CHANGE.search(text) else text


def find_personal_data(text: str, kinds: Iterable[DataKind]) -> Iterator[tuple[int, int, DataKind]]:
    """Yield the start, end and kind of each match in a text; matches may overlap."""
    plain = plain_spelling(text)
    visible: range | list[int] = range(len(text))
    if len(plain) != len(text):
        visible = [place for place, sign in enumerate(text) if _PLAIN.get(ord(sign)) != ""]
    for kind in kinds:
        for start, end in _FINDERS[kind](plain):
            yield visible[start], visible[end - 1] + 1, kind


def _accounts(text: str) -> Iterator[Span]:
    for match in _IBAN.finditer(text):
        places = [place for place in range(*match.span(1)) if text[place].isalnum()]
        length = _LENGTHS.get(match[1][:2].upper(), len(places) + 1)
        if length > len(places):
            continue
        end = places[length - 1] + 1
        is_cut = end < len(text) and text[end].isascii() and text[end].isalnum()
        signs = "".join(text[place] for place in (*places[4:length], *places[:4]))
        if not is_cut and int("".join(str(int(sign, 36)) for sign in signs)) % 97 == 1:
            yield match.start(), end
    for match in _NAMED.finditer(text):
        yield match.span(1)


def names_account(name: str) -> bool:
    """Return whether a key such as `accountNumber` names the number of an account."""
    return len(name) <= _MAX_KEY and _NAME.search(name) is not None


def is_account_number(value: str | float) -> bool:
    text = plain_spelling(value) if isinstance(value, str) else str(value)
    return _WHOLE_NUMBER.fullmatch(text) is not None


def _cards(text: str) -> Iterator[Span]:
    spans = [match.span() for match in _CARD.finditer(text)]
    spans += [match.span(1) for match in _PRINTED.finditer(text)]
    for span in spans:
        yield from _card(text, span)


def _card(text: str, span: Span) -> Iterator[Span]:
    digits = [(place, int(text[place])) for place in range(*span) if text[place].isdigit()]
    for length in range(len(digits), 12, -1):
        last = digits[length - 1][0] + 1
        if last < len(text) and text[last].isdigit():
            continue
        if _is_card([digit for _, digit in digits[:length]]):
            yield span[0], last
            return


def _is_card(digits: list[int]) -> bool:
    if len(set(digits)) == 1:
        return False
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _mails(text: str) -> Iterator[Span]:
    for match in _MAIL_HOST.finditer(text):
        first = match.start()
        least = max(0, first - _MAX_MAIL_NAME)
        while first > least and (text[first - 1].isalnum() or text[first - 1] in _IN_MAIL_NAME):
            first -= 1
        if first < match.start():
            yield first, match.end()


_FINDERS: Mapping[DataKind, Callable[[str], Iterator[Span]]] = {
    DataKind.ACCOUNT: _accounts,
    DataKind.CARD: _cards,
    DataKind.EMAIL: _mails,
    DataKind.PHONE: lambda text: (match.span() for match in _PHONE.finditer(text)),
}
