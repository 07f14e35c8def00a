"""Format cell values as a spreadsheet does: percentages, currencies, dates, decimals."""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
import operator
import re

GENERAL_DIGITS = 12  # significant digits without a format; more are noise of binary fractions
_LOCALE_DATES = frozenset({"mm-dd-yy", "m/d/yy", "m/d/yyyy", "mm/dd/yy"})  # follow the locale
# Quoted, escaped, a space of a sign's width, a fill sign, a currency, a colour.
_LITERAL = re.compile(
    r'"([^"]*)"|\\(.)|_.|\*.|\[\$([^\]-]*)[^\]]*\]|\[(?![hms])[^\]]*\]', re.IGNORECASE
)
_CONDITION = re.compile(r"\[([<>=]{1,2})(-?[\d.]+)\]")
_COMPARISONS = {"<": operator.lt, "<=": operator.le, "=": operator.eq, "<>": operator.ne,
                ">": operator.gt, ">=": operator.ge}  # fmt: skip
_PLACES = re.compile(r"[#0?][#0?,]*(?:\.[#0?]*,*)?|\.[#0?]+")
_DATE_CODE = re.compile(r"\[h+\]|y+|m+|d+|h+|s+|am/pm|a/p", re.IGNORECASE)
_DATE_CODES = {"yy": "%y", "yyyy": "%Y", "mm": "%m", "mmm": "%b", "mmmm": "%B", "dd": "%d",
               "ddd": "%a", "dddd": "%A", "ss": "%S", "am/pm": "%p", "a/p": "%p"}  # fmt: skip


def write_cell(value: object, code: str) -> str:
    """Return a value in its number format."""
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case timedelta():
            minutes, seconds = divmod(int(value.total_seconds()), 60)
            return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
        case datetime() | date() | time():
            return _write_date(value, code)
        case int() | float():
            return _write_number(Decimal(str(value)), code)
        case _:
            return str(value)


def _write_number(number: Decimal, code: str) -> str:
    """Return a number in its format; unchanged if the format is unknown."""
    section, number = _choose_section(number, code.split(";"))
    template, literals = _take_literals(section)
    template, n_general = re.subn("general", _write_general(number), template, flags=re.IGNORECASE)
    places = _PLACES.search(template)
    if n_general or (places is None and template.strip() not in ("", "@")):
        return _put_literals(template, literals)
    # Fractions, exponents, and signs between the digits, as in telephone numbers.
    is_other = places is None or re.search(r"[/E]|[#0?].*[^#0?,.].*[#0?]", template)
    if places is None or is_other:
        return _write_general(number)
    whole = places[0].rstrip(",")  # each comma at the end divides by a thousand
    scaled = number * 100 ** template.count("%") / 1000 ** (len(places[0]) - len(whole))
    text = _write_places(scaled, whole)
    return _put_literals(template.replace(places[0], text, 1), literals).strip()


def _choose_section(number: Decimal, sections: Sequence[str]) -> tuple[str, Decimal]:
    """Return the section for a number, and the number as it is written in it."""
    conditions = [_CONDITION.search(one) for one in sections]
    if any(conditions):
        for section, found in zip(sections, conditions, strict=True):
            if found is None or _COMPARISONS[found[1]](number, Decimal(found[2])):
                return section, number
        return "General", number
    if number < 0 and len(sections) > 1:
        return sections[1], -number
    return sections[2 if number == 0 and len(sections) > 2 else 0], number


def _write_general(number: Decimal) -> str:
    if number != number.to_integral():
        last = Decimal(1).scaleb(number.adjusted() - GENERAL_DIGITS + 1)
        number = number.quantize(last, ROUND_HALF_UP)
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _write_places(number: Decimal, places: str) -> str:
    if number == 0 and set(places) == {"?"}:
        return ""
    whole, _, decimals = places.partition(".")
    rounded = number.quantize(Decimal(1).scaleb(-len(decimals)), ROUND_HALF_UP)
    text = f"{rounded:,f}" if "," in whole else f"{rounded:0{whole.count('0') or 1}f}"
    for _ in range(len(decimals) - len(decimals.rstrip("#?"))):
        text = text.removesuffix("0")
    return text.removesuffix(".") if decimals else text


def _write_date(value: date | datetime | time, code: str) -> str:
    """Return a date or time in its format; as ISO 8601 without a usable format."""
    template, literals = _take_literals(code.split(";")[0])
    codes = [found[0].lower() for found in _DATE_CODE.finditer(template)]
    if not codes or template.strip().lower() in _LOCALE_DATES:
        is_day = isinstance(value, datetime) and value.time() == time()
        return str(value).removesuffix(" 00:00:00") if is_day else str(value)
    is_12_hours = "am/pm" in codes or "a/p" in codes
    parts = []
    for before, name, after in zip(["", *codes], codes, [*codes[1:], ""], strict=False):
        is_near_time = before.startswith(("h", "[")) or after.startswith("s")
        if name.startswith(("h", "[")):
            form = "%I" if is_12_hours else "%H"
        elif name[0] == "m" and is_near_time:
            form = "%M"
        else:
            form = _DATE_CODES.get(name) or _DATE_CODES.get(name * 2) or "%Y"
        text = format(value, form)
        is_short = name in ("h", "[h]", "d", "m", "s") and form != "%M"
        parts.append(text.removeprefix("0") if is_short else text)
    text = _DATE_CODE.sub(lambda _: parts.pop(0), template)
    return _put_literals(text, literals).strip()


def _take_literals(section: str) -> tuple[str, list[str]]:
    """Replace quoted and escaped text by signs that formats don't use."""
    literals: list[str] = []

    def take(found: re.Match[str]) -> str:
        literals.append("".join(filter(None, found.groups())))
        return "\0"

    return _LITERAL.sub(take, section), literals


def _put_literals(text: str, literals: list[str]) -> str:
    parts = iter(literals)
    return re.sub("\0", lambda _: next(parts, ""), text)
