"""Figures as they are read: numbers, shares, times and money in words, and what changed."""

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from django.utils.formats import number_format
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from copilot_admin.analytics.first_token import FirstToken
from copilot_admin.rendering.text import duration

NONE = "–"  # noqa: RUF001  # a dash
Raw = int | float | Decimal | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureCell:
    """One figure: as it is shown, where it leads, and as a file has it."""

    text: str
    raw: Raw
    url: str = ""
    is_number: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureTile:
    """A figure of the whole period beside that of the period before.

    Attributes:
        change: What changed, in words; empty where nothing can be compared.
        before_url: What is behind the figure before.
    """

    label: str
    cell: FigureCell
    before: str
    before_url: str = ""
    change: str = ""
    hint: str = ""


def number(value: float | Decimal, url: str = "") -> FigureCell:
    """A whole number; nothing is behind 0."""
    text = _grouped(int(value), get_language())
    return FigureCell(text=text, raw=int(value), url=url if value else "")


@lru_cache(maxsize=4096)  # a page has thousands of numbers, and most of them are small
def _grouped(value: int, _language: str | None) -> str:
    return number_format(value, force_grouping=True)


def words(text: str, url: str = "") -> FigureCell:
    """A cell with a text instead of a number."""
    return FigureCell(text=text or NONE, raw=text, url=url, is_number=False)


def share(value: float | None, url: str = "") -> FigureCell:
    """A part of all, in per cent."""
    if value is None:
        return FigureCell(text=NONE, raw=None)
    return FigureCell(text=per_cent(value), raw=round(100 * value, 2), url=url)


def per_cent(value: float) -> str:
    """A part in per cent; what is small but there is not 0."""
    decimals = 0 if value in (0, 1) else 1
    return _("%(share)s\N{NO-BREAK SPACE}%%") % {
        "share": number_format(round(100 * value, 1), decimals)
    }


def money(value: float | Decimal, url: str = "") -> FigureCell:
    """Dollars: cents where they are enough."""
    amount = Decimal(value)
    places = 2 if amount >= 1 or not amount else 4
    if 0 < amount < Decimal("0.0001"):
        return FigureCell(text="< $0.0001", raw=amount, url=url)
    text = f"${number_format(round(amount, places), places, force_grouping=True)}"
    return FigureCell(text=text, raw=amount, url=url if amount else "")


def cost(known: float | Decimal, unpriced: float | Decimal, url: str = "") -> FigureCell:
    """What is known of a cost; nothing known is not 0."""
    if unpriced and not known:
        return FigureCell(text=_("unknown"), raw=None)
    return money(known, url)


def time_to(found: FirstToken | None, url: str = "") -> FigureCell:
    """A time to the first token."""
    if found is None:
        return FigureCell(text=NONE, raw=None)
    sign = f"{found.sign} " if found.sign else ""
    return FigureCell(text=f"{sign}{duration(found.ms)}", raw=found.ms, url=url)


def change(now: Raw, before: Raw) -> str:
    """What changed, in words and per cent; nothing where there was nothing, which stands beside it."""
    if not isinstance(now, int | float | Decimal) or not isinstance(before, int | float | Decimal):
        return ""
    if not before:
        return ""
    difference = float(now) - float(before)
    if not difference:
        return _("as before")
    value = abs(difference) / abs(float(before))
    shown = number_format(round(100 * value), 0, force_grouping=True) if value >= 0.005 else "< 1"
    form = _("%(share)s %% more") if difference > 0 else _("%(share)s %% less")
    return form % {"share": shown}


def change_of_share(now: float | None, before: float | None) -> str:
    """What changed of a share, in points."""
    if now is None or before is None:
        return ""
    points = round(100 * (now - before), 1)
    if not points:
        return _("as before")
    form = _("%(points)s points more") if points > 0 else _("%(points)s points less")
    return form % {"points": number_format(abs(points), 1)}
