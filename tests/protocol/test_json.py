"""JSON values are coerced, copied and cleaned."""

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest

from protocol.json import (
    Json,
    clean_json,
    clean_text,
    integer_of,
    is_deeper,
    list_of,
    object_of,
    objects_of,
    text_of,
)


@pytest.mark.parametrize(
    ("coerce", "fitting", "empty"),
    [
        (text_of, "a", ""),
        (object_of, {"a": 1}, {}),
        (list_of, [1], ()),
        (objects_of, [{"a": 1}], []),
        (integer_of, 5, None),
    ],
)
@pytest.mark.parametrize("value", [None, True, 5, 1.5, "a", [1], {"a": 1}], ids=str)
def test_value_of_another_type_counts_as_missing(
    coerce: Callable[[Json], Any], fitting: Json, empty: Json, value: Json
) -> None:
    assert coerce(fitting) == fitting
    assert coerce(value) == (value if type(value) is type(fitting) and value == fitting else empty)


@pytest.mark.parametrize(
    ("value", "depth"), [("x", 0), (None, 0), ([], 1), ({"a": 1}, 1), ({"a": [[1], {}]}, 3)]
)
def test_depth_is_the_number_of_nested_containers(value: Json, depth: int) -> None:
    assert not is_deeper(value, than=depth)
    assert depth == 0 or is_deeper(value, than=depth - 1)


@pytest.mark.parametrize(
    ("text", "clean"),
    [("plain", "plain"), ("é😀", "é😀"), ("a\x00b\ud800c😀", "a\ufffdb\ufffdc😀")],
)
def test_characters_that_no_database_takes_are_replaced(text: str, clean: str) -> None:
    assert clean_text(text) == clean


def test_json_is_cleaned_in_keys_and_values_at_any_place() -> None:
    value: Any = {"k\x00": ["\ud800\x00", {"in": ("\udfff",)}], "fine": 1.5, "n": None}
    assert clean_json(value) == {
        "k\ufffd": ["\ufffd\ufffd", {"in": ["\ufffd"]}],
        "fine": 1.5,
        "n": None,
    }
    assert value["k\x00"] == ["\ud800\x00", {"in": ("\udfff",)}]


@pytest.mark.parametrize("number", [nan, inf, -inf])
def test_number_that_json_lacks_becomes_null(number: float) -> None:
    assert clean_json([number, 0.5, 10**400]) == [None, 0.5, 10**400]
