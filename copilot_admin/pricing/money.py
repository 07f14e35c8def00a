"""Costs in words: what is known, how well, and that something is not."""

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Protocol

from django.utils.translation import gettext as _

from copilot_admin.models import CostConfidence

_CENT = Decimal("0.01")
_SMALLEST = Decimal("0.000001")
_DIGITS = 2  # that an amount below a cent keeps


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCost:
    """A cost as a page shows it.

    Attributes:
        text: Short, for a row.
        sentence: The whole amount, and what is to be known of it.
    """

    text: str
    sentence: str


def cost_in_words(amount: Decimal | None, confidence: str) -> ShownCost:
    """What one run cost."""
    if amount is None or confidence == CostConfidence.UNKNOWN:
        return _unknown()
    return _known(amount, is_estimated=confidence == CostConfidence.ESTIMATED)


class Sums(Protocol):
    """The cost of several runs, such as those of a turn; of `n_unpriced` of them nobody knows it."""

    @property
    def cost(self) -> Decimal:
        """As much of the cost as is known."""
        ...

    @property
    def n_unpriced(self) -> int:
        """How many are of unknown cost."""
        ...

    @property
    def cost_is_estimated(self) -> bool:
        """Whether a part of what is known is an estimate."""
        ...


def sum_in_words(sums: Sums) -> ShownCost:
    """What several runs cost, as far as it is known."""
    if not sums.n_unpriced:
        return _known(sums.cost, is_estimated=sums.cost_is_estimated)
    if not sums.cost:
        return _unknown()
    known = _known(sums.cost, is_estimated=sums.cost_is_estimated)
    return ShownCost(
        text=_("at least %(amount)s") % {"amount": known.text},
        sentence=_("%(known)s The cost of %(count)d more requests is unknown.")
        % {"known": known.sentence, "count": sums.n_unpriced},
    )


def dollars(amount: Decimal) -> str:
    """An amount with as many digits as say something: $12.30, $0.0042, less than $0.000001."""
    if amount and amount < _SMALLEST:
        return f"< ${_SMALLEST:f}"
    if not amount or amount >= _CENT:
        return f"${amount.quantize(_CENT, ROUND_HALF_EVEN):,f}"
    places = Decimal(1).scaleb(amount.adjusted() - _DIGITS + 1)
    return f"${amount.quantize(max(places, _SMALLEST), ROUND_HALF_EVEN):f}"


def plain(amount: Decimal) -> str:
    """An amount with all its digits and none that say nothing."""
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _known(amount: Decimal, *, is_estimated: bool) -> ShownCost:
    whole = plain(amount)
    if is_estimated:
        return ShownCost(
            text=f"≈ {dollars(amount)}",
            sentence=_("Estimated: %(amount)s US dollars.") % {"amount": whole},
        )
    return ShownCost(
        text=dollars(amount), sentence=_("Exactly %(amount)s US dollars.") % {"amount": whole}
    )


def _unknown() -> ShownCost:
    return ShownCost(
        text=_("unknown"),
        sentence=_("Unknown: there was no price for the model, or nobody counted its tokens."),
    )
