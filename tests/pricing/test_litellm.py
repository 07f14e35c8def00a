"""Price files in the form that LiteLLM publishes."""

from decimal import Decimal
import json
from typing import Any

import pytest

from copilot_admin.pricing.imports import (
    InvalidPriceFile,
    PriceEntry,
    PriceFile,
    SkippedEntry,
    dump_price_file,
    parse_price_file,
)
from copilot_admin.pricing.prices import Price
from tests.pricing.pricing import price

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
