"""Write cell values as a spreadsheet shows them: percentages, currencies, dates, decimals."""

from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
import re

GENERAL_DIGITS = 12  # significant digits without a format; more are noise of binary fractions
_LOCALE_DATE = frozenset(
    {"mm-dd-yy", "m/d/yy", "m/d/yyyy", "mm/dd/yy"}
)  # format 14 follows the locale
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|_(.)|\*(.)|\[\$([^\]-]*)[^\]]*\]|\[(?!h|m|s|H|M|S)[^\]]*\]')
_PLACES = re.compile(r"[#0?][#0?,]*(?:\.[#0?]*)?|\.[#0?]+")
_DATE_CODE = re.compile(r"\[h+\]|\[m+\]|\[s+\]|y+|m+|d+|h+|s+|am/pm|a/p|\.0+", re.IGNORECASE)
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
           "October", "November", "December")  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def write_cell(value: object, code: str) -> str:
    """Return a value as its number format shows it."""
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case datetime() | date() | time() | timedelta():
            return write_date(value, code)
        case int() | float() | Decimal():
            return write_number(value, code)
        case _:
            return str(value)


def write_number(value: int | float | Decimal, code: str) -> str:
    """Return a number as its format shows it; a format that isn't known leaves it as it is."""
    try:
        number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    except InvalidOperation:
        return str(value)
    if not number.is_finite():
        return str(value)
    section, number = _choose_section(code, number)
    if section.strip().lower() in ("", "general", "@") or "?/" in section or "/?" in section:
        return write_general(number)
    template, literals = _take_literals(section)
    found = _PLACES.search(template)
    if found is None:
        return _put_literals(template, literals) if template.strip() else write_general(number)
    scaled = number * 100 ** template.count("%")
    if re.match(r"E[+-]0", template[found.end() :], re.IGNORECASE):
        decimals = _count_decimals(found[0])
        return _put_literals(f"{template[: found.start()]}{scaled:.{decimals}E}", literals)
    places = found[0]
    whole = places.rstrip(",")
    scaled /= 1000 ** (len(places) - len(whole))
    rest = template[found.end() :]
    text = _write_places(scaled, whole)
    return _put_literals(f"{template[: found.start()]}{text}{rest}", literals).strip()


def write_general(number: Decimal) -> str:
    """Return a number without a format."""
    rounded = +number if number == number.to_integral() else _round_significant(number)
    text = f"{rounded:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def write_date(value: date | datetime | time | timedelta, code: str) -> str:
    """Return a date or time as its format shows it; without a usable format as ISO 8601."""
    if isinstance(value, timedelta):
        seconds = int(value.total_seconds())
        sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
        return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    section = code.split(";")[0]
    template, literals = _take_literals(section)
    codes = [found[0].lower() for found in _DATE_CODE.finditer(template)]
    if not codes or template.strip().lower() in _LOCALE_DATE or template.lower() == "general":
        return _write_iso(value)
    is_12_hours = any(one in ("am/pm", "a/p") for one in codes)
    parts = iter(range(len(codes)))

    def write(found: re.Match[str]) -> str:
        index = next(parts)
        near = (
            codes[index - 1] if index else "",
            codes[index + 1] if index + 1 < len(codes) else "",
        )
        return _write_date_code(value, codes[index], near=near, is_12_hours=is_12_hours)

    return _put_literals(_DATE_CODE.sub(write, template), literals).strip()


def _choose_section(code: str, number: Decimal) -> tuple[str, Decimal]:
    sections = code.split(";")
    if number < 0 and len(sections) > 1:
        return sections[1], -number
    if number == 0 and len(sections) > 2:
        return sections[2], number
    return sections[0], number


def _take_literals(section: str) -> tuple[str, list[str]]:
    """Replace quoted and escaped text by signs that no format has."""
    literals: list[str] = []

    def take(found: re.Match[str]) -> str:
        quoted, escaped, _space, _fill, currency = found.groups()
        literals.append(quoted or escaped or currency or "")
        return "\0"

    return _LITERAL.sub(take, section), literals


def _put_literals(text: str, literals: list[str]) -> str:
    parts = iter(literals)
    return re.sub("\0", lambda _: next(parts, ""), text)


def _count_decimals(places: str) -> int:
    return len(places.partition(".")[2])


def _write_places(number: Decimal, places: str) -> str:
    whole, _, decimals = places.partition(".")
    rounded = number.quantize(Decimal(1).scaleb(-len(decimals)), ROUND_HALF_UP)
    text = f"{rounded:,f}" if "," in whole else f"{rounded:f}"
    digits, _, fraction = text.partition(".")
    optional = len(decimals) - len(decimals.rstrip("#?"))
    for _ in range(optional):
        fraction = fraction.removesuffix("0")
    min_digits = whole.count("0")
    sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    if min_digits == 0 and digits == "0":
        digits = ""
    digits = digits.zfill(min_digits) if "," not in digits else digits
    return f"{sign}{digits}.{fraction}" if fraction else f"{sign}{digits or '0'}"


def _round_significant(number: Decimal) -> Decimal:
    return number.quantize(Decimal(1).scaleb(number.adjusted() - GENERAL_DIGITS + 1), ROUND_HALF_UP)


def _write_iso(value: date | datetime | time) -> str:
    if isinstance(value, datetime):
        has_time = value.time() != time()
        return value.isoformat(" ", "auto") if has_time else value.date().isoformat()
    return value.isoformat()


def _write_date_code(
    value: date | datetime | time, code: str, *, near: tuple[str, str], is_12_hours: bool
) -> str:
    day = value if isinstance(value, date) else None
    clock = (
        value.time()
        if isinstance(value, datetime)
        else value
        if isinstance(value, time)
        else time()
    )
    is_minute = near[0].strip("[]").startswith("h") or near[1].startswith("s")
    match code[0].strip("["), len(code):
        case ("y", width):
            return f"{day.year % 100:02}" if day and width <= 2 else f"{day.year:04}" if day else ""
        case ("m", width) if is_minute:
            return f"{clock.minute:02}" if width > 1 else str(clock.minute)
        case ("m", width) if day:
            return (str(day.month), f"{day.month:02}", _MONTHS[day.month - 1][:3],
                    _MONTHS[day.month - 1], _MONTHS[day.month - 1][0])[min(width, 5) - 1]  # fmt: skip
        case ("d", width) if day:
            name = _DAYS[day.weekday()]
            return (str(day.day), f"{day.day:02}", name[:3], name)[min(width, 4) - 1]
        case ("h" | "", width):
            hour = (clock.hour % 12 or 12) if is_12_hours else clock.hour
            return f"{hour:02}" if width > 1 and not code.startswith("[") else str(hour)
        case ("s", width):
            return f"{clock.second:02}" if width > 1 else str(clock.second)
        case ("a", _):
            return "PM" if clock.hour >= 12 else "AM"
        case (".", width):
            return f".{clock.microsecond:06}"[:width]
        case _:
            return ""
