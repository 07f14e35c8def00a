"""What has another shape than the one that is wanted is taken as absent."""

import pytest

from protocol.json import is_number, list_of, object_of, objects_of, text_of, whole_number_of

OBJECT = {"a": 1}


@pytest.mark.parametrize(
    ("value", "shapes"),
    [
        ("text", ("text", {}, (), [], None)),
        (OBJECT, ("", OBJECT, (), [], None)),
        ([OBJECT, "text", None], ("", {}, [OBJECT, "text", None], [OBJECT], None)),
        (7, ("", {}, (), [], 7)),
        (7.0, ("", {}, (), [], None)),
        (True, ("", {}, (), [], None)),
        (None, ("", {}, (), [], None)),
    ],
)
def test_a_value_has_one_shape_and_is_empty_in_the_others(value, shapes):
    found = (text_of, object_of, list_of, objects_of, whole_number_of)
    assert tuple(shape(value) for shape in found) == shapes


@pytest.mark.parametrize(
    ("value", "is_one"), [(1, True), (1.5, True), (True, False), ("1", False), (None, False)]
)
def test_true_is_no_number(value, is_one):
    assert is_number(value) is is_one
