"""Limits and their usage as labelled bars."""

from dataclasses import dataclass
from decimal import Decimal

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.admin.limits.usage import NEAR_SHARE, RuleUsage
from copilot_admin.copilots.config_form import LIMITS
from copilot_admin.limits.rules import NANO, LimitRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Limit as a bar with its text.

    Attributes:
        percent: At most 100; None for a limit that applies to each of several subjects.
        note: Usage that the bar cannot show; "" if there is none.
    """

    label: str
    text: str
    percent: int | None = None
    is_near: bool = False
    is_full: bool = False
    note: str = ""


def build_bar(rule: LimitRule, usage: RuleUsage) -> Bar:
    used, maximum = _format_amount(rule, usage.used), _format_amount(rule, rule.maximum)
    return Bar(
        label=str(LIMITS[rule.kind.key]),
        text=_("%(used)s of %(maximum)s") % {"used": used, "maximum": maximum},
        percent=min(100, 100 * usage.used // rule.maximum),
        is_near=NEAR_SHARE * rule.maximum <= usage.used < rule.maximum,
        is_full=usage.used >= rule.maximum,
        note=_describe_unpriced(usage.unpriced),
    )


def build_bar_of_each(rule: LimitRule) -> Bar:
    """Build the bar of a limit that applies to each of several subjects."""
    maximum = _format_amount(rule, rule.maximum)
    return Bar(label=str(LIMITS[rule.kind.key]), text=_("%(maximum)s each") % {"maximum": maximum})


def _describe_unpriced(answers: int) -> str:
    if not answers:
        return ""
    return ngettext(
        "%(count)d answer of unknown cost is not counted. Add a price for its model.",
        "%(count)d answers of unknown cost are not counted. Add prices for their models.",
        answers,
    ) % {"count": answers}


def _format_amount(rule: LimitRule, number: int) -> str:
    if not rule.counts_money:
        return number_format(number, force_grouping=True)
    dollars = Decimal(number) / NANO
    places = 2 if dollars >= 1 or not dollars else 6
    return f"${number_format(dollars.quantize(Decimal(1).scaleb(-places)), force_grouping=True)}"
