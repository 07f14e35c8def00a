"""Files of prices in LiteLLM's form."""

from decimal import Decimal
import json
from typing import Any

import pytest

from copilot_admin.pricing import litellm
from copilot_admin.pricing.litellm import (
    BadPriceFile,
    PriceEntry,
    PriceFile,
    Skipped,
    read_prices,
    written,
)
from tests.pricing.pricing import price

GOOD = {"input_cost_per_token": 2e-06, "output_cost_per_token": 8e-06, "mode": "chat"}


def read(**models: Any) -> PriceFile:
    return read_prices(json.dumps({"good": GOOD, **models}).encode())


def the_price(**changes: Any) -> Any:
    return read(m={**GOOD, **changes}).entries[1].price


def reason(**changes: Any) -> str:
    (skipped,) = read(m={**GOOD, **changes}).skipped
    assert skipped.key == "m"
    return skipped.reason


@pytest.mark.parametrize("is_turned", [False, True])
def test_of_tiers_the_lowest_is_taken_and_where_it_ends(is_turned):
    tiers = [
        {
            "range": [0, 256000.0],
            "input_cost_per_token": 5e-08,
            "output_cost_per_token": 4e-07,
            "output_cost_per_reasoning_token": 1e-06,
            "cache_read_input_token_cost": 1e-08,
        },
        {"range": [256000.0, 1e6], "input_cost_per_token": 2.5e-07, "output_cost_per_token": 2e-06},
    ]
    tiers = tiers[::-1] if is_turned else tiers
    entry = {"litellm_provider": "dashscope", "mode": "chat", "tiered_pricing": tiers}
    found = read(**{"dashscope/qwen-flash": entry}).entries[1]
    assert (found.name, found.price) == (
        "qwen-flash",
        price("0.05", "0.4", cached="0.01", reasoning="1", exact_up_to=256_000),
    )


@pytest.mark.parametrize(
    ("tiers", "limit"),
    [
        ([], None),
        ("none", None),
        ([1, None], None),
        ([{"range": "0-1", "input_cost_per_token": 2e-06}], None),
        ([{"range": [0, None]}, {"range": [5, 9]}], None),
        ([{"range": [0, 1e400]}, {"range": [-3, "x"]}], None),
        ([{"range": [0, 1e9]}, {"range": [10**9, None]}], 999_999),
    ],
)
def test_what_are_no_tiers_leaves_the_prices_of_the_entry(tiers, limit):
    assert the_price(tiered_pricing=tiers) == price("2", "8", exact_up_to=limit)


def test_an_entry_is_a_price_of_a_million_tokens():
    entry = {
        **GOOD,
        "cache_read_input_token_cost": 5e-07,
        "output_cost_per_reasoning_token": "1e-05",
        "input_cost_per_token_above_200k_tokens": 4e-06,
        "output_cost_per_token_above_128k_tokens": 9e-06,
        "cache_read_input_token_cost_above_272k_tokens": 1e-06,
        "max_tokens": 8192,
        "litellm_provider": "openai",
        "supports_vision": True,
    }
    assert read(**{"openai/gpt": entry}) == PriceFile(
        (
            PriceEntry(key="good", vendor="", price=price("2", "8")),
            PriceEntry(
                key="openai/gpt",
                vendor="openai",
                price=price("2", "8", cached="0.5", reasoning="10", exact_up_to=128_000),
            ),
        ),
        (),
    )


@pytest.mark.parametrize(
    ("number", "dollars"),
    [
        (0, "0"),
        (-0.0, "0"),
        ("0.0000005", "0.5"),
        (" 5e-7 ", "0.5"),
        (1e-12, "0.000001"),
        (2.0000000000000002e-07, "0.2"),
        (2.3999999999999998e-07, "0.24"),
        (0.1, "100000"),
    ],
)
def test_numbers_are_read_without_a_computers_fractions(number, dollars):
    found = the_price(input_cost_per_token=number).input
    assert (found, found.is_signed()) == (Decimal(dollars), False)


@pytest.mark.parametrize(
    "number",
    [-1e-06, float("nan"), float("inf"), "NaN", "-Infinity", "", "free", True, [], {}, "9" * 61],
)
@pytest.mark.parametrize("key", ["input_cost_per_token", "output_cost_per_reasoning_token"])
def test_what_is_no_price_is_skipped(number, key):
    assert reason(**{key: number}) == f"{key} is no price."


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"mode": "embedding"}, "It is not for text (mode embedding)."),
        ({"mode": ["chat"]}, "It is not for text (mode ['chat'])."),
        ({"mode": ""}, "It is not for text (mode )."),
        ({"input_cost_per_token": None}, "It has no prices per token of input and output."),
        ({"output_cost_per_token": None}, "It has no prices per token of input and output."),
        (
            {"input_cost_per_token": 0.100001},
            "input_cost_per_token is more than 100,000 dollars for a million tokens.",
        ),
        (
            {"input_cost_per_token": "1e999999"},
            "input_cost_per_token is more than 100,000 dollars for a million tokens.",
        ),
        ({"input_cost_per_token": 1e-13}, "input_cost_per_token is too small to be a price."),
        (
            {"output_cost_per_token": "1e-999999"},
            "output_cost_per_token is too small to be a price.",
        ),
    ],
)
def test_a_skipped_entry_says_why(changes, why):
    assert reason(**changes) == why


def test_nothing_that_is_told_of_a_file_steers_a_terminal():
    entry = {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6}
    escape, shown = "\x1b]0;x\x07", "\ufffd]0;x\ufffd"
    read = read_prices(
        json.dumps(
            {
                "good": entry | {"litellm_provider": escape},
                escape: entry,
                "other": entry | {"mode": escape},
            }
        ).encode()
    )
    assert read.vendors == (shown,)
    assert read.skipped == (
        Skipped(shown, "It is no name of a model."),
        Skipped("other", f"It is not for text (mode {shown})."),
    )


def test_the_mode_may_be_absent():
    entry = {key: value for key, value in GOOD.items() if key != "mode"}
    assert [one.key for one in read(m=entry).entries] == ["good", "m"]


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("sample_spec", "It is the example in the file."),
        ("", "It is no name of a model."),
        (" ", "It is no name of a model."),
        ("m" * 201, "It is no name of a model."),
        ("a\0b", "It is no name of a model."),
        ("a\ud800", "It is no name of a model."),
        ("a\x1b[31m", "It is no name of a model."),
        ("a\u202eb", "It is no name of a model."),
    ],
)
def test_a_name_that_cannot_be_is_skipped(key, why):
    (skipped,) = read(**{key: GOOD}).skipped
    assert skipped.reason == why
    skipped.key.encode()  # it can be shown


@pytest.mark.parametrize("value", [None, 3, "x", [GOOD]])
def test_an_entry_that_is_no_object_has_no_prices(value):
    assert read(m=value).skipped == (Skipped("m", "It has no prices."),)


@pytest.mark.parametrize(
    ("key", "limit"),
    [
        ("input_cost_per_token_above_200k_tokens", 200_000),
        ("input_cost_per_token_above_1500_tokens", 1500),
        ("input_cost_per_token_above_999999k_tokens", 999_999_000),
        ("input_cost_per_token_above_1000000k_tokens", None),
        ("input_cost_per_token_above_k_tokens", None),
        ("input_cost_per_token_above_٣k_tokens", None),
        ("input_cost_per_token_above_200k_tokens_priority", None),
        ("cache_creation_input_token_cost_above_1hr", None),
        ("max_above_200k_tokens", None),
        ("above_200k_tokens", None),
    ],
)
def test_where_other_prices_begin_is_remembered(key, limit):
    assert the_price(**{key: 4e-06}).exact_up_to == limit
    assert the_price(**{key: None}).exact_up_to is None


def test_names_in_any_script_are_names():
    assert read(**{"модель-<b>": GOOD}).entries[1].key == "модель-<b>"


def test_a_model_is_called_with_and_without_its_vendor():
    entry = {**GOOD, "litellm_provider": "openrouter"}
    (_, found) = read(**{"openrouter/openai/gpt": entry}).entries
    assert (found.name, found.names) == (
        "openai/gpt",
        ("openrouter/openai/gpt", "openai/gpt"),
    )
    (_, plain) = read(**{"azure/gpt": GOOD}).entries
    assert (plain.name, plain.names) == ("azure/gpt", ("azure/gpt", "gpt"))


def test_the_vendors_of_a_file_are_known():
    found = read(a={**GOOD, "litellm_provider": "b"}, c={**GOOD, "litellm_provider": "a"})
    assert found.vendors == ("a", "b")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The file is no JSON: line 1, column 1."),
        (b'{"a": 1,\n]', "The file is no JSON: line 2, column 1."),
        (b"\xff\xfe{}", "The file is no text in UTF-8."),
        (b"[" * 100_000, "The file is no file of prices: it is nested too deeply."),
        (b"[]", "The file is no file of prices: it has to be an object with a key for each model."),
        (
            b'{"a": {}}',
            "No model in this file has prices per token. Choose LiteLLM's "
            "model_prices_and_context_window.json, or a file of its form.",
        ),
    ],
)
def test_a_file_that_is_none_is_refused_in_words(data, sentence):
    with pytest.raises(BadPriceFile) as refused:
        read_prices(data)
    assert refused.value.public == sentence


def test_a_file_with_a_mark_of_its_order_of_bytes_is_read():
    assert read_prices(b"\xef\xbb\xbf" + json.dumps({"m": GOOD}).encode()).entries


def test_a_huge_file_is_not_read(monkeypatch):
    monkeypatch.setattr(litellm, "MOST_BYTES", 10)
    with pytest.raises(BadPriceFile, match="larger than 20 MB"):
        read_prices(b"{" + b" " * 10)


@pytest.mark.parametrize("inside", [b"{}", b"[]", b"1"])
def test_a_file_of_very_many_small_values_is_refused_before_it_is_read(inside, monkeypatch):
    monkeypatch.setattr(litellm.json, "loads", lambda *_, **__: pytest.fail("it was read"))
    data = b'{"m": [' + (inside + b",") * 1_000_000 + b"1]}"
    with pytest.raises(BadPriceFile, match="more values than a file of prices has"):
        read_prices(data)


def test_a_file_of_too_many_models_is_refused(monkeypatch):
    monkeypatch.setattr(litellm, "MOST_MODELS", 1)
    with pytest.raises(BadPriceFile, match="more than 20,000 models"):
        read(m=GOOD)


def test_what_is_written_is_read_again():
    prices = {
        "gpt": price("2", "8", cached="0.000001", reasoning="100000", exact_up_to=1500),
        "gpt-6": price("2", "8", exact_up_to=999_999_000),
        "модель": price("0", "0"),
    }
    found = read_prices(written(prices).encode())
    assert {entry.key: entry.price for entry in found.entries} == prices
    assert found.skipped == ()


@pytest.mark.parametrize(
    ("key", "vendor", "name"),
    [
        ("vertex_ai/codestral-2", "vertex_ai-mistral_models", "codestral-2"),
        ("openrouter/openai/gpt", "openrouter", "openai/gpt"),
        ("openai/gpt-oss", "groq", "openai/gpt-oss"),
        ("azure/gpt", "azure_text", "azure/gpt"),
        ("gpt", "openai", "gpt"),
        ("openai/", "openai", "openai/"),
        ("/gpt", "", "/gpt"),
    ],
)
def test_a_model_is_called_without_its_vendor(key, vendor, name):
    assert read(**{key: {**GOOD, "litellm_provider": vendor}}).entries[1].name == name


def test_cached_tokens_have_their_price_under_either_key():
    assert the_price(input_cost_per_token_cache_hit=5e-07) == price("2", "8", cached="0.5")
    both = {"input_cost_per_token_cache_hit": 5e-07, "cache_read_input_token_cost": 1e-07}
    assert the_price(**both) == price("2", "8", cached="0.1")


@pytest.mark.parametrize(
    "besides",
    [
        {"input_cost_per_request": 0.005},
        {"off_peak_pricing": {"input_cost_per_token": 1e-06, "windows": []}},
    ],
)
def test_where_more_than_tokens_is_paid_no_cost_is_exact(besides):
    found = the_price(**besides)
    assert found == price("2", "8", exact_up_to=0)
    assert read_prices(written({"m": found}).encode()).entries[0].price == found


@pytest.mark.parametrize("nothing", [0, 0.0, "0", None])
def test_a_request_that_costs_nothing_leaves_costs_exact(nothing):
    assert the_price(input_cost_per_request=nothing) == price("2", "8")


def test_prices_of_batches_and_of_priority_are_not_taken():
    others = {
        "input_cost_per_token_batches": 1e-06,
        "output_cost_per_token_batches": 4e-06,
        "input_cost_per_token_priority": 4e-06,
        "input_cost_per_token_above_200k_tokens_batches": 2e-06,
        "cache_creation_input_token_cost_above_1hr": 9e-06,
        "search_context_cost_per_query": {"search_context_size_low": 0.01},
    }
    assert the_price(**others) == price("2", "8")
