"""The layout of JSON for models."""

from enum import IntEnum, StrEnum
import json
import math
from typing import Any

import pytest

from protocol.json_layout import layout


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


@pytest.mark.parametrize("length", range(60, 75))
def test_line_has_at_most_80_columns(length: int) -> None:
    for value in ({"k": {"v": "x" * length}}, {"k": ["x" * length]}, [{"v": "x" * length}]):
        assert layout(value) == specified(value)


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


def specified(value: Any) -> str:
    """The layout as the spec writes it down, slowly; line ends of Unicode escaped."""
    text = _specified(value)
    for mark in "\u2028\u2029\u0085":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def _specified(value: Any, indent: int = 0, prefix: int = 0, *, top: bool = True) -> str:
    def quoted(one: Any) -> str:
        return json.dumps(one, ensure_ascii=False)

    if not isinstance(value, dict | list):
        return quoted(value)
    if isinstance(value, dict):
        start, end, gap, kids = "{", "}", " ", [*value.values()]
        names = [f"{quoted(key)}: " for key in value]
    else:
        start, end, gap, kids, names = "[", "]", "", value, [""] * len(value)
    if not value:
        return start + end
    if not top and not any(isinstance(kid, dict | list) for kid in kids):
        members = ", ".join(name + quoted(kid) for name, kid in zip(names, kids, strict=True))
        line = f"{start}{gap}{members}{gap}{end}"
        if indent + prefix + len(line) <= 80:
            return line
    rows = [
        " " * (indent + 2) + name + _specified(kid, indent + 2, len(name), top=False)
        for name, kid in zip(names, kids, strict=True)
    ]
    return f"{start}\n" + ",\n".join(rows) + f"\n{' ' * indent}{end}"
