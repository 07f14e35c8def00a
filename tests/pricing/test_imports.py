"""Price files in the form that LiteLLM publishes, and the import of their prices."""

from datetime import date
from decimal import Decimal
import json
from typing import Any

import pytest

from copilot_admin.audit.recording import Actor
from copilot_admin.models import ModelPrice
from copilot_admin.pricing.imports import (
    InvalidPriceFile,
    PriceChange,
    PriceEffect,
    PriceEntry,
    PriceFile,
    SkippedEntry,
    apply_plan,
    build_plan,
    dump_price_file,
    parse_price_file,
    select_prices,
)
from copilot_admin.pricing.prices import Price
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


GOOD = {"input_cost_per_token": 2e-06, "output_cost_per_token": 8e-06, "mode": "chat"}
NO_PRICES = "It has no prices per token of input and output."


def parse(**models: Any) -> PriceFile:
    return parse_price_file(json.dumps({"good": GOOD, **models}).encode())


def parse_price(**changes: Any) -> Price:
    return parse(m={**GOOD, **changes}).entries[1].price


def find_reason(key: str = "m", entry: Any = None, **changes: Any) -> str:
    (skipped,) = parse(**{key: {**GOOD, **changes} if entry is None else entry}).skipped
    skipped.key.encode()  # it can be shown
    return skipped.reason


def test_an_entry_has_dollars_for_a_million_tokens():
    entry = {
        **GOOD,
        "cache_read_input_token_cost": 5e-07,
        "output_cost_per_reasoning_token": "1e-05",
        "input_cost_per_token_above_200k_tokens": 4e-06,
        "output_cost_per_token_above_128k_tokens": 9e-06,
        "max_tokens": 8192,
        "litellm_provider": "openai",
        "supports_vision": True,
    }
    full = price("2", "8", cached="0.5", reasoning="10", exact_up_to=128_000)
    assert parse(**{"openai/gpt": entry}).entries == (
        PriceEntry(key="good", vendor="", price=price("2", "8")),
        PriceEntry(key="openai/gpt", vendor="openai", price=full),
    )


@pytest.mark.parametrize(
    ("number", "dollars"),
    [(-0.0, "0"), (" 5e-7 ", "0.5"), (2.3999999999999998e-07, "0.24"), (0.1, "100000")],
)
def test_numbers_are_read_without_floating_point_noise(number, dollars):
    found = parse_price(input_cost_per_token=number).input
    assert (found, found.is_signed()) == (Decimal(dollars), False)


@pytest.mark.parametrize(
    "number", [-1e-06, float("inf"), "NaN", "", "free", True, {}, 0.100001, 1e-13, "1e999999"]
)
def test_an_entry_with_an_invalid_price_is_skipped(number):
    reason = find_reason(input_cost_per_token=number)
    assert reason == "input_cost_per_token is not a valid price."


@pytest.mark.parametrize(
    ("key", "entry", "reason"),
    [
        ("m", {**GOOD, "mode": "embedding"}, "It is not for text."),
        ("m", {**GOOD, "mode": ["chat"]}, "It is not for text."),
        ("m", {**GOOD, "input_cost_per_token": None}, NO_PRICES),
        ("m", {**GOOD, "output_cost_per_token": None}, NO_PRICES),
        ("m", [GOOD], "It has no prices."),
        ("sample_spec", GOOD, "It is the example in the file."),
        *((key, GOOD, "Its name is not valid.")
          for key in ("", " ", "m" * 201, "a\0b", "a\ud800", "a\x1b[31m", "a\u202eb")),
    ],
)  # fmt: skip
def test_a_skipped_entry_has_a_reason(key, entry, reason):
    assert find_reason(key, entry) == reason


def test_nothing_from_a_file_controls_a_terminal():
    escape = "\x1b]0;x\x07"
    found = parse(**{escape: GOOD, "other": {**GOOD, "litellm_provider": escape}})
    assert found.skipped == (SkippedEntry(ascii(escape), "Its name is not valid."),)
    assert found.entries[1].vendor == ""


@pytest.mark.parametrize(
    ("key", "limit"),
    [
        ("input_cost_per_token_above_200k_tokens", 200_000),
        ("input_cost_per_token_above_1500_tokens", 1500),
        ("input_cost_per_token_above_200k_tokens_priority", None),
        ("cache_creation_input_token_cost_above_1hr", None),
        ("max_above_200k_tokens", None),
    ],
)
def test_other_prices_above_a_length_are_remembered(key, limit):
    assert parse_price(**{key: 4e-06}).exact_up_to == limit
    assert parse_price(**{key: None}).exact_up_to is None


@pytest.mark.parametrize(
    "other",
    [{"input_cost_per_request": 0.005}, {"off_peak_pricing": {"input_cost_per_token": 1e-06}}],
)
def test_costs_are_estimates_where_more_than_tokens_is_paid(other):
    found = parse_price(**other)
    assert found == price("2", "8", exact_up_to=0)
    assert parse_price_file(dump_price_file({"m": found}).encode()).entries[0].price == found


@pytest.mark.parametrize(
    ("key", "vendor", "names"),
    [
        ("openrouter/openai/gpt", "openrouter", ("openrouter/openai/gpt", "openai/gpt")),
        ("vertex_ai/codestral-2", "vertex_ai-mistral_models",
         ("vertex_ai/codestral-2", "codestral-2")),
        ("azure/gpt", "azure_text", ("azure/gpt", "gpt")),
        ("openai/", "openai", ("openai/",)),
        ("модель-<b>", "", ("модель-<b>",)),
    ],
)  # fmt: skip
def test_a_model_has_names_with_and_without_its_vendor(key, vendor, names):
    found = parse(**{key: {**GOOD, "litellm_provider": vendor}}).entries[1]
    assert found.names == names
    is_of_vendor = len(names) > 1 and vendor != "azure_text"
    assert found.name == names[-1 if is_of_vendor else 0]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The file is not valid JSON"),
        (b'{"a": 1,\n]', "The file is not valid JSON"),
        (b"\xff\xfe{}", "The file is not valid JSON"),
        (b"[" * 100_000, "The file is not valid JSON"),
        (b"[]", "No model in this file has prices per token."),
        (b'{"a": {}}', "No model in this file has prices per token."),
    ],
)
def test_another_file_is_rejected(data, sentence):
    with pytest.raises(InvalidPriceFile, match=sentence):
        parse_price_file(data)
