"""Big JSON is cut where it is big, into parts that stay the same when the rest changes."""

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
import orjson
import pytest

from copilot_admin.storage import packing
from protocol import pieces
from tests.storage.any_json import JSON


@given(JSON, st.integers(0, 60))
def test_what_is_big_is_what_takes_more_bytes_as_json(value, bound):
    assert packing.is_big(value, bound) == (len(packing.dumped(value)) > bound)


@pytest.mark.parametrize("depth", [1, 7])
@pytest.mark.parametrize(
    "big", ["x" * 100_000, {"k" * 100_000: 1}, {str(number): "" for number in range(20_000)}]
)
def test_a_big_value_is_written_down_as_often_however_deep_it_lies(monkeypatch, depth, big):
    sizes: list[int] = []

    def counted(value: object) -> bytes:
        data: bytes = write(value)
        sizes.append(len(data))
        return data

    write = packing.dumped
    monkeypatch.setattr(packing, "dumped", counted)
    value: object = big
    for _ in range(depth):
        value = {"deeper": value}
    packing.pack(value)
    assert sum(size >= 100_000 for size in sizes) == 1  # to keep it


@pytest.mark.parametrize(
    "value",
    [
        {"rows": [{"a": number, "$blob": "b"} for number in range(packing.LONGEST_RUN + 1)]},
        [["$"] * 200, [[{"$": ["x" * 5_000]}] * 200]],
        {"rows": [*["x"] * 200, {"deep": [{"$list": [1]}]}]},
        {"rows": [{"$blob": 1}] * packing.LONGEST_RUN},
    ],
)
def test_a_key_with_a_dollar_is_found_in_a_list_of_any_length(value):
    packed = packing.pack(value)
    read = {sha: data for sha, (data, _) in packed.parts.items()}
    assert packing.whole_value(packed.sha, read, {}) == value


@pytest.mark.parametrize("element", [7, 0.25, "word", True, [1], {"a": 1}])
def test_many_small_elements_cost_few_parts(element):
    packed = packing.pack({"rows": [element] * 10_000 + [*range(10_000)]})
    bytes_of_parts = sum(len(data) for data, _ in packed.parts.values())
    assert len(packed.parts) <= bytes_of_parts / 1000


def test_of_small_elements_too_a_list_that_grows_costs_what_is_new():
    numbers = [number / 8 for number in range(50_000)]
    before = packing.pack({"rows": numbers})
    after = packing.pack({"rows": [*numbers, 1.5]})
    new = after.parts.keys() - before.parts.keys()
    assert sum(len(after.parts[sha][0]) for sha in new) < 4 * packing.LONGEST_SMALL_RUN


@pytest.mark.parametrize("text", ["\u00e9\n" * 500, '\U0001f600"' * 500, "a\ud800" * 500])
def test_a_long_text_is_written_in_pieces_as_if_it_were_one(text, monkeypatch):
    expected = packing.dumped([text])[1:-1]
    written: list[int] = []

    def noted(value: Any, **options: Any) -> bytes:
        written.append(len(value))
        return orjson.dumps(value, **options)

    monkeypatch.setattr(pieces, "PIECE", 100)
    monkeypatch.setattr(packing, "PIECE", 100)
    monkeypatch.setattr(
        packing, "orjson", SimpleNamespace(dumps=noted, JSONEncodeError=orjson.JSONEncodeError)
    )
    assert packing.dumped(text) == expected
    assert max(written) == 100
