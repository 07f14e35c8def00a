"""Limits and their use in words and bars."""

from dataclasses import dataclass
from decimal import Decimal

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.copilots.fields.options import LIMITS
from copilot_admin.limits.near_limits import SHARE
from copilot_admin.limits.rules import NANO, LimitMeasure, LimitRule
from copilot_admin.limits.use import LimitUse


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A limit as a bar with its text.

    Attributes:
        per_cent: That is used, 100 at most; None: of several that are counted each for itself.
        note: What the bar cannot show; "" for nothing.
    """

    label: str
    text: str
    per_cent: int | None = None
    is_near: bool = False
    is_full: bool = False
    note: str = ""


def bar_of(rule: LimitRule, use: LimitUse) -> Bar:
    """How much of a limit is used, as a bar with its words."""
    used, most = _amount(rule, use.used), _amount(rule, rule.most)
    return Bar(
        label=str(LIMITS[rule.kind.key]),
        text=_("%(used)s of %(most)s") % {"used": used, "most": most},
        per_cent=min(100, 100 * use.used // rule.most),
        is_near=SHARE * rule.most <= use.used < rule.most,
        is_full=use.used >= rule.most,
        note=_not_counted(use.unpriced) if rule.kind.measure is LimitMeasure.USD else "",
    )


def bar_of_each(rule: LimitRule) -> Bar:
    """What each of several may have."""
    most = _amount(rule, rule.most)
    return Bar(label=str(LIMITS[rule.kind.key]), text=_("%(most)s each") % {"most": most})


def _not_counted(answers: int) -> str:
    if not answers:
        return ""
    return ngettext(
        "And %(count)d answer that it cannot count: nobody knows what it cost. Give its model a "
        "price.",
        "And %(count)d answers that it cannot count: nobody knows what they cost. Give their models "
        "prices.",
        answers,
    ) % {"count": answers}


def _amount(rule: LimitRule, number: int) -> str:
    if rule.kind.measure is not LimitMeasure.USD:
        return number_format(number, force_grouping=True)
    dollars = Decimal(number) / NANO
    places = 2 if dollars >= 1 or not dollars else 6
    return f"${number_format(dollars.quantize(Decimal(1).scaleb(-places)), force_grouping=True)}"
