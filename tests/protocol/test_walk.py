"""JSON values of any depth are rebuilt and weighed without recursion."""

import pytest

from protocol.json import Json
from protocol.walk import finite, is_deeper, rebuild, values_in, weighs_more

DEEP = 100_000


def nested(depth: int) -> Json:
    value: Json = []
    for _ in range(depth):
        value = [value]
    return value


def test_what_is_deeper_than_a_stack_is_rebuilt_and_weighed():
    found, depth = rebuild(nested(DEEP)), 0
    while found:
        assert isinstance(found, list)
        (found,), depth = found, depth + 1
    assert depth == DEEP
    assert weighs_more([nested(DEEP)], than=DEEP - 1, text=1)


def test_how_deep_a_value_is_is_told_without_recursion():
    assert is_deeper(nested(DEEP), than=40)
    assert is_deeper({"a": nested(39)}, than=40)
    assert not is_deeper({"a": nested(38)}, than=40)


@pytest.mark.parametrize(
    ("value", "number"), [(7, 1), ("text", 1), ([], 1), ([1, (2, 3)], 5), ({"a": [1, {"b": 2}]}, 5)]
)
def test_all_values_in_a_value_are_counted(value: Json, number: int):
    assert values_in(value) == number


@pytest.mark.parametrize("scalar", ["text", 7, 1.5, True, None])
def test_what_is_neither_list_nor_object_is_not_deep(scalar: Json):
    assert not is_deeper(scalar, than=1)


@pytest.mark.parametrize(
    ("roots", "weight"),
    [
        ([1], 1),
        (["abcdef"], 3),
        ([["abcdef", None]], 5),
        ([{"abcd": [], "b": {"c": True}}], 5),
        ([1, [2], {}], 4),
    ],
    ids=str,
)
def test_members_elements_and_texts_count(roots: list[Json], weight: int):
    assert not weighs_more(roots, than=weight, text=3)
    assert weighs_more(roots, than=weight - 1, text=3)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *((value, None) for value in (float("nan"), float("inf"), float("-inf"))),
        *((value, value) for value in (0.0, 1e308, 10**400, True, None, "NaN")),
    ],
)
def test_what_json_has_no_number_for_becomes_null(value, shown):
    assert finite(value) == shown
