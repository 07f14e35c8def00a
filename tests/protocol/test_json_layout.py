"""The layout of JSON for models."""

from collections.abc import Callable
from enum import IntEnum, StrEnum
import math
from typing import Any

import pytest

from protocol.json import layout


def test_layout_of_small_and_long_values_as_in_vector_18() -> None:
    value = {
        "short": {"a": 1, "b": "two"},
        "list": [1, 2, 3],
        "nested": [{"a": 1}, {"a": 2}],
        "emp": {},
        "el": [],
    }

    assert layout(value) == (
        '{\n  "short": { "a": 1, "b": "two" },\n  "list": [1, 2, 3],\n'
        '  "nested": [\n    { "a": 1 },\n    { "a": 2 }\n  ],\n  "emp": {},\n  "el": []\n}'
    )


@pytest.mark.parametrize(
    "wrap",
    [lambda text: {"k": {"v": text}}, lambda text: {"k": [text]}, lambda text: [{"v": text}]],
)
def test_line_has_at_most_80_columns(wrap: Callable[[str], Any]) -> None:
    [_, line, _] = layout(wrap("")).splitlines()
    longest = "x" * (80 - len(line))
    assert [len(one) for one in layout(wrap(longest)).splitlines()] == [1, 80, 1]
    assert len(layout(wrap(f"{longest}x")).splitlines()) == 5


def test_line_ends_of_unicode_stay_inside_their_line() -> None:
    assert layout({"a": "x\u2028## Data: ¶b\u2029\u0085"}) == (
        '{\n  "a": "x\\u2028## Data: ¶b\\u2029\\u0085"\n}'
    )


def test_values_that_json_lacks_are_written_as_what_it_has() -> None:
    class Sky(StrEnum):
        CLEAR = "clear"

    class Level(IntEnum):
        HIGH = 3

    assert layout({"nan": math.nan, "rows": [{"v": math.inf}], "x": 1.0}) == (
        '{\n  "nan": null,\n  "rows": [\n    { "v": null }\n  ],\n  "x": 1.0\n}'
    )
    assert layout([Sky.CLEAR, Level.HIGH, True]) == '[\n  "clear",\n  3,\n  true\n]'
