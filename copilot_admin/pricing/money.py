"""Formatting of costs: the amount, how exact it is, and that something is unknown."""

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Protocol

from django.utils.translation import gettext as _

from copilot_admin.models import CostConfidence

_CENT = Decimal("0.01")
_MIN_SHOWN = Decimal("0.000001")
_DIGITS_BELOW_A_CENT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class FormattedCost:
    """Short text for a row, and a sentence with the whole amount."""

    text: str
    sentence: str


class CostSums(Protocol):
    """Cost of several runs: known sum, runs of unknown cost, and whether a part is estimated."""

    @property
    def cost(self) -> Decimal: ...

    @property
    def n_unpriced(self) -> int: ...

    @property
    def cost_is_estimated(self) -> bool: ...


def format_cost(amount: Decimal | None, confidence: str) -> FormattedCost:
    if amount is None or confidence == CostConfidence.UNKNOWN:
        return _format_unknown()
    if confidence == CostConfidence.REPORTED:
        sentence = _("The provider charged %(amount)s US dollars.")
        return FormattedCost(
            text=format_dollars(amount), sentence=sentence % {"amount": format_exact(amount)}
        )
    return _format_known(amount, is_estimated=confidence == CostConfidence.ESTIMATED)


def format_cost_sums(sums: CostSums) -> FormattedCost:
    if sums.n_unpriced and not sums.cost:
        return _format_unknown()
    known = _format_known(sums.cost, is_estimated=sums.cost_is_estimated)
    if not sums.n_unpriced:
        return known
    return FormattedCost(
        text=_("at least %(amount)s") % {"amount": known.text},
        sentence=_("%(known)s The cost of %(count)d more requests is unknown.")
        % {"known": known.sentence, "count": sums.n_unpriced},
    )


def format_dollars(amount: Decimal) -> str:
    """Format an amount with its significant digits: $12.30, $0.0042, < $0.000001."""
    if amount and amount < _MIN_SHOWN:
        return f"< ${_MIN_SHOWN:f}"
    if not amount or amount >= _CENT:
        return f"${amount.quantize(_CENT, ROUND_HALF_EVEN):,f}"
    places = Decimal(1).scaleb(amount.adjusted() - _DIGITS_BELOW_A_CENT + 1)
    return f"${amount.quantize(max(places, _MIN_SHOWN), ROUND_HALF_EVEN):f}"


def format_exact(amount: Decimal) -> str:
    """Format an amount with all digits but trailing zeros."""
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _format_known(amount: Decimal, *, is_estimated: bool) -> FormattedCost:
    text, exact = format_dollars(amount), format_exact(amount)
    if is_estimated:
        sentence = _("Estimated: %(amount)s US dollars.") % {"amount": exact}
        return FormattedCost(text=f"≈ {text}", sentence=sentence)
    sentence = _("Exactly %(amount)s US dollars.") % {"amount": exact}
    return FormattedCost(text=text, sentence=sentence)


def _format_unknown() -> FormattedCost:
    return FormattedCost(
        text=_("unknown"),
        sentence=_("Unknown: the model had no price, or its tokens were not counted."),
    )
