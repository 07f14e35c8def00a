"""Costs in words."""

from dataclasses import dataclass
from decimal import Decimal

import pytest

from copilot_admin.pricing.cost import FormattedCost, format_cost, format_cost_sums, format_dollars

UNKNOWN = FormattedCost(
    text="unknown", sentence="Unknown: the model had no price, or its tokens were not counted."
)


def known(text: str, sentence: str) -> FormattedCost:
    return FormattedCost(text=text, sentence=sentence)


@dataclass
class Sums:
    cost: Decimal
    n_unpriced: int = 0
    cost_is_estimated: bool = False


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("0", "$0.00"),
        ("0.0000000000001", "< $0.000001"),
        ("0.000001", "$0.000001"),
        ("0.00000149", "$0.000001"),
        ("0.0000124", "$0.000012"),
        ("0.00228", "$0.0023"),
        ("0.0099", "$0.0099"),
        ("0.00999", "$0.0100"),
        ("0.01", "$0.01"),
        ("0.125", "$0.12"),
        ("12.3456", "$12.35"),
        ("1234567", "$1,234,567.00"),
    ],
)
def test_an_amount_is_as_long_as_it_says_something(amount, text):
    assert format_dollars(Decimal(amount)) == text


@pytest.mark.parametrize(
    ("amount", "confidence", "shown"),
    [
        ("0.00228", "exact", known("$0.0023", "Exactly 0.00228 US dollars.")),
        ("0.00228", "reported", known("$0.0023", "The provider charged 0.00228 US dollars.")),
        ("0.00228", "estimated", known("≈ $0.0023", "Estimated: 0.00228 US dollars.")),
        ("0", "exact", FormattedCost(text="$0.00", sentence="Exactly 0 US dollars.")),
        (None, "unknown", UNKNOWN),
        ("0", "unknown", UNKNOWN),
    ],
)
def test_the_cost_of_a_run_says_how_well_it_is_known(amount, confidence, shown):
    assert format_cost(None if amount is None else Decimal(amount), confidence) == shown


@pytest.mark.parametrize(
    ("sums", "shown"),
    [
        (Sums(Decimal("0.5")), FormattedCost(text="$0.50", sentence="Exactly 0.5 US dollars.")),
        (
            Sums(Decimal("0.5"), cost_is_estimated=True),
            FormattedCost(text="≈ $0.50", sentence="Estimated: 0.5 US dollars."),
        ),
        (
            Sums(Decimal("0.5"), n_unpriced=2),
            FormattedCost(
                text="at least $0.50",
                sentence="Exactly 0.5 US dollars. The cost of 2 more requests is unknown.",
            ),
        ),
        (Sums(Decimal(0), n_unpriced=1), UNKNOWN),
        (Sums(Decimal(0)), FormattedCost(text="$0.00", sentence="Exactly 0 US dollars.")),
    ],
)
def test_a_sum_says_what_of_it_is_unknown(sums, shown):
    assert format_cost_sums(sums) == shown
