"""Values of metrics as text, and what changed since the period before."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.admin.analytics.charts import NONE
from copilot_admin.analytics.metrics import Metric, Unit

MIN_COMPACT = 3000  # of the top of an axis
MIN_WHOLE_PERCENT = 0.1  # smaller shares have a decimal


def format_value(unit: Unit, value: float | None) -> str:
    return NONE if value is None else "".join(split_value(unit, value))


def split_value(unit: Unit, value: float | None) -> tuple[str, str]:
    """Return number and unit, which key figures show in two sizes."""
    return (NONE, "") if value is None else _FORMATS[unit](value)


def format_axis(unit: Unit, value: float, top: float) -> str:
    """Return a value on an axis, all values up to the top with the same precision."""
    if unit is Unit.NUMBER and top >= MIN_COMPACT:
        size, suffix = (1_000_000, "M") if top >= 3_000_000 else (1000, "k")
        return f"{_number(value / size, 1).removesuffix('.0')}{suffix}"
    if unit is Unit.DOLLARS:
        return f"${_number(value, 2 if top >= 0.03 else 4)}"
    return format_value(unit, value)


def _number(value: float, places: int = 0) -> str:
    return number_format(round(value, places), places, force_grouping=True)


def _format_number(value: float) -> tuple[str, str]:
    if value >= 1_000_000:
        return _number(value / 1_000_000, 1), "M"
    return (_number(value), "") if value < 100_000 else (_number(value / 1000), "k")


def _format_share(value: float) -> tuple[str, str]:
    is_whole = value in (0, 1) or MIN_WHOLE_PERCENT <= value < 0.995
    return _number(100 * value, 0 if is_whole else 1), "%"


def _format_seconds(value: float) -> tuple[str, str]:
    if value >= 60:
        return _number(value / 60, 1), "\N{NO-BREAK SPACE}min"
    return _number(value, 1), "\N{NO-BREAK SPACE}s"


def _format_dollars(value: float) -> tuple[str, str]:
    if 0 < value < 0.0001:
        return "< $0.0001", ""
    places = 4 if 0 < value < 0.1 else 2
    return f"${_number(value, places)}", ""


_FORMATS: Mapping[Unit, Callable[[float], tuple[str, str]]] = {
    Unit.NUMBER: _format_number,
    Unit.SHARE: _format_share,
    Unit.SECONDS: _format_seconds,
    Unit.DOLLARS: _format_dollars,
}


class Delta(NamedTuple):
    text: str
    icon: str
    label: str
    tone: str


def compare(metric: Metric, now: float | None, before: float | None) -> Delta | None:
    """Return what changed; None if there is nothing to compare with, or no change to show."""
    if now is None or before is None or (not before and metric.unit is not Unit.SHARE):
        return None
    difference = float(now) - float(before)
    text = _format_change(metric.unit, difference, float(before))
    if not any(digit in "123456789" for digit in text):
        return None
    is_good = difference * metric.direction > 0
    tone = "" if not metric.direction else "ca-good" if is_good else "ca-bad"
    if difference > 0:
        return Delta(text, "rise", _("up"), tone)
    return Delta(text, "fall", _("down"), tone)


def _format_change(unit: Unit, difference: float, before: float) -> str:
    size = abs(difference)
    match unit:
        case Unit.SHARE:
            places = 0 if size >= 0.01 else 1
            points = round(100 * size, places)
            text = ngettext("%(points)s pt", "%(points)s pts", 1 if points == 1 else 2)
            return text % {"points": _number(points, places)}
        case Unit.SECONDS:
            return "".join(_format_seconds(size))
    return f"{_number(100 * size / abs(before))}%"
