"""Costs from tokens and prices, and costs in words."""

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.agent.values.model_call import Usage, UsageSource
from copilot_admin.models import CostConfidence
from copilot_admin.pricing.cost import (
    UNKNOWN_COST,
    ZERO_COST,
    Cost,
    FormattedCost,
    calculate_cost,
    format_cost,
    format_cost_sums,
    format_dollars,
    sum_costs,
)
from tests.pricing.pricing import price

EXACT, ESTIMATED = CostConfidence.EXACT, CostConfidence.ESTIMATED
REPORTED = CostConfidence.REPORTED
FULL = price("2", "8", cached="0.5", reasoning="10")


def used(given: int, cached: int, made: int, thought: int, **more: object) -> Usage:
    return Usage(
        input_tokens=given,
        cached_tokens=cached,
        output_tokens=made,
        reasoning_tokens=thought,
        **more,
    )


@pytest.mark.parametrize(
    ("usage", "valid", "amount", "confidence"),
    [
        # Every kind has its price, and no token is paid twice: 600 + 400 read, 60 + 40 written.
        (used(1000, 400, 100, 40), FULL, "0.00228", EXACT),
        (used(1000, 1, 100, 0), price("2", "8"), "0.0028", ESTIMATED),
        (used(1000, 0, 100, 1), price("2", "8"), "0.0028", ESTIMATED),
        # A price of 0 is a price.
        (used(1000, 400, 100, 0), price("2", "8", cached="0"), "0.002", EXACT),
        # More cached than read, more thought than written: nobody can have counted that.
        (used(1000, 5000, 100, 900), FULL, "0.0015", EXACT),
        (used(1000, 0, 100, 0, source=UsageSource.ESTIMATED), FULL, "0.0028", ESTIMATED),
        (used(1000, 0, 100, 0), replace(FULL, exact_up_to=1000), "0.0028", EXACT),
        (used(1001, 0, 100, 0), replace(FULL, exact_up_to=1000), "0.002802", ESTIMATED),
    ],
)
def test_a_cost_is_tokens_times_prices(usage, valid, amount, confidence):
    assert calculate_cost(usage, valid) == Cost(Decimal(amount), confidence)


@pytest.mark.parametrize("valid", [None, FULL, price("0", "0")])
def test_what_the_provider_charged_takes_precedence_over_any_price(valid):
    usage = used(1000, 0, 100, 0, cost=Decimal("0.0123"))
    assert calculate_cost(usage, valid) == Cost(Decimal("0.0123"), REPORTED)


@pytest.mark.parametrize(
    ("usage", "valid", "cost"),
    [
        (None, None, UNKNOWN_COST),
        (used(1000, 0, 100, 0), None, UNKNOWN_COST),
        (None, FULL, UNKNOWN_COST),
        (None, price("0", "0", cached="0.1"), UNKNOWN_COST),
        (None, price("0", "0"), ZERO_COST),
        (used(9, 0, 9, 0, source=UsageSource.ESTIMATED), price("0", "0"), ZERO_COST),
    ],
)
def test_a_cost_is_unknown_without_tokens_and_a_price_unless_it_is_free(usage, valid, cost):
    assert calculate_cost(usage, valid) == cost


COUNTS = st.integers(0, 2**31 - 1)
PRICES = st.decimals(0, 100_000, places=6)


@given(COUNTS, COUNTS, COUNTS, COUNTS, PRICES, PRICES, PRICES, PRICES)
def test_no_digit_of_a_cost_is_lost(given, cached, made, thought, one, two, three, four):
    valid = price("0", "0", cached="0", reasoning="0")
    valid = replace(valid, input=one, cached=two, output=three, reasoning=four)
    cached, thought = min(cached, given), min(thought, made)
    amount = calculate_cost(used(given, cached, made, thought), valid).amount
    exact = (
        Fraction(one) * (given - cached)
        + Fraction(two) * cached
        + Fraction(three) * (made - thought)
        + Fraction(four) * thought
    ) / 1_000_000
    assert Fraction(amount) == exact
    assert amount == round(amount, 12)


@pytest.mark.parametrize(
    ("costs", "sum_of_them"),
    [
        ((), ZERO_COST),
        ((Cost(Decimal(1), EXACT), Cost(Decimal(2), EXACT)), Cost(Decimal(3), EXACT)),
        ((Cost(Decimal(1), EXACT), Cost(Decimal(2), ESTIMATED)), Cost(Decimal(3), ESTIMATED)),
        ((Cost(Decimal(1), ESTIMATED), UNKNOWN_COST), UNKNOWN_COST),
        ((Cost(Decimal(1), REPORTED), Cost(Decimal(2), REPORTED)), Cost(Decimal(3), REPORTED)),
        ((Cost(Decimal(1), REPORTED), Cost(Decimal(2), EXACT)), Cost(Decimal(3), EXACT)),
        ((Cost(Decimal(1), REPORTED), Cost(Decimal(2), ESTIMATED)), Cost(Decimal(3), ESTIMATED)),
    ],
)
def test_costs_together_are_as_sure_as_the_least_sure(costs, sum_of_them):
    assert sum_costs(costs) == sum_of_them


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
