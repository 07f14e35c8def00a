"""What becomes of the prices of a file."""

from datetime import date
from decimal import Decimal

import pytest

from copilot_admin.audit.recording import Actor
from copilot_admin.models import ModelPrice
from copilot_admin.pricing.imports import (
    PriceChange,
    PriceEffect,
    PriceEntry,
    PriceFile,
    SkippedEntry,
    apply_plan,
    build_plan,
    select_prices,
)
from tests.factories import make_provider
from tests.pricing.pricing import make_price, price

ONE, TWO = price("1", "1"), price("2", "2")
DAY = date(2026, 6, 1)


def entry(key: str, value: object = ONE, vendor: str = "") -> PriceEntry:
    return PriceEntry(key=key, vendor=vendor, price=value)


def file(*entries: PriceEntry) -> PriceFile:
    return PriceFile(entries, (SkippedEntry("old", "Why."),))


def test_of_all_models_the_vendors_name_is_left_out():
    taken, skipped = select_prices(
        file(entry("gpt"), entry("azure/gpt-5", TWO, "azure")), listed=None
    )
    assert taken == {"gpt": ONE, "gpt-5": TWO}
    assert skipped == (SkippedEntry("old", "Why."),)


def test_only_what_the_provider_lists_is_taken_as_it_names_it():
    found = file(entry("openrouter/openai/gpt", ONE, "openrouter"), entry("gpt", TWO), entry("x"))
    taken, skipped = select_prices(found, listed={"openai/gpt", "gpt"})
    assert taken == {"openai/gpt": ONE, "gpt": TWO}
    assert skipped[1:] == (SkippedEntry("x", "The provider does not list it."),)


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_entries_of_one_name_that_counts_which_bears_it(turned):
    both = [entry("gpt", ONE), entry("azure/gpt", TWO, "azure")]
    taken, skipped = select_prices(file(*(reversed(both) if turned else both)), listed=None)
    assert taken == {"gpt": ONE}
    assert skipped[1:] == (
        SkippedEntry("azure/gpt", "Another entry of the file has the name gpt too."),
    )


def test_free_models_are_skipped():
    free = price("0", "0.0", cached="0")
    found = file(
        entry("gemini/exp", free, "gemini"), entry("exp", ONE), entry("half", price("0", "1"))
    )
    taken, skipped = select_prices(found, listed=None)
    assert taken == {"exp": ONE, "half": price("0", "1")}
    assert skipped[1:] == (
        SkippedEntry(
            "gemini/exp", "Its price is 0, which may mean unknown. If it is free, add a price of 0."
        ),
    )


@pytest.mark.database
@pytest.mark.django_db
class TestRows:
    def test_a_plan_says_what_is_new_changed_and_same_on_its_day(self):
        provider = make_price(model="same", input=Decimal(1), output=Decimal(1)).provider
        make_price(provider, model="changed", input=Decimal(9))
        make_price(provider, model="later", valid_from=date(2027, 1, 1))
        make_price(make_provider(kind="openai_compatible"), model="new")
        prices = dict.fromkeys(("same", "changed", "later", "new"), ONE)
        plan = build_plan(provider, prices, day=DAY)
        assert plan.changes == (
            PriceChange(model="changed", price=ONE, before=price("9", "8")),
            PriceChange(model="later", price=ONE),
            PriceChange(model="new", price=ONE),
            PriceChange(model="same", price=ONE, before=ONE),
        )
        assert [change.effect for change in plan.changes] == [
            PriceEffect.CHANGED, PriceEffect.NEW, PriceEffect.NEW, PriceEffect.SAME,
        ]  # fmt: skip

    def test_what_changed_begins_on_the_day_and_what_was_before_stays(self):
        provider = make_price(model="changed", input=Decimal(9)).provider
        make_price(provider, model="same", input=Decimal(1), output=Decimal(1))
        full = price("1", "2", cached="0.5", reasoning="3", exact_up_to=128_000)
        prices = {"changed": full, "same": ONE, "new": TWO}
        assert (
            apply_plan(provider, build_plan(provider, prices, day=DAY), day=DAY, by=Actor.command())
            == 2
        )
        names = ("model", "valid_from", "input", "output", "cached", "reasoning", "exact_up_to")
        assert set(ModelPrice.objects.values_list(*names)) == {
            ("changed", date(2026, 1, 1), 9, 8, None, None, None),
            ("changed", DAY, 1, 2, Decimal("0.5"), 3, 128_000),
            ("same", date(2026, 1, 1), 1, 1, None, None, None),
            ("new", DAY, 2, 2, None, None, None),
        }
        assert (
            apply_plan(provider, build_plan(provider, prices, day=DAY), day=DAY, by=Actor.command())
            == 0
        )

    def test_a_second_import_on_a_day_replaces_the_first(self):
        provider = make_price(valid_from=DAY).provider
        before = ModelPrice.objects.get().updated_at
        plan = build_plan(provider, {"gpt": TWO}, day=DAY)
        assert apply_plan(provider, plan, day=DAY, by=Actor.command()) == 1
        row = ModelPrice.objects.get()
        assert (row.input, row.output) == (2, 2)
        assert row.updated_at > before  # so that other processes see it
