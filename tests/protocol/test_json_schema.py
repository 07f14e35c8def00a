"""Schemas, and data against schemas: what is wrong, and where."""

from typing import Any

import pytest

from protocol.json_schema import argument_faults, data_faults, schema_fault, self_contained


def test_faults_are_named_in_the_words_of_callers() -> None:
    schema = {"required": ["x"], "properties": {"n": {"items": {"type": "integer"}}}}

    wrong = "n[1]: 'two' is not of type 'integer'"
    assert argument_faults({"n": [1, "two"], "x": 1}, schema) == (wrong,)
    assert argument_faults({"n": [1, "two"]}, schema) == ("x is missing", wrong)
    assert argument_faults({"x": 1}, {"required": ["x"]}) == ()


def unresolved(reference: str) -> str:
    return f"$: the reference {reference!r} leads to no schema."


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        (None, ""),
        (True, ""),
        (5, "$: 5 is not of type 'object', 'boolean'"),
        ({"pattern": "("}, "$.pattern: '(' is not a 'regex'"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {}}}, ""),
        ({"properties": {"a": {}, "b": {"$ref": "#/properties/a"}}}, ""),
        ({"$ref": "#/nowhere"}, unresolved("#/nowhere")),
        ({"$ref": "#/anyOf/7", "anyOf": [True]}, unresolved("#/anyOf/7")),
        ({"$ref": "#a", "$defs": {"x": {"$anchor": "a"}}}, ""),
        ({"$ref": "#/$defs/a~1b~0c%20d", "$defs": {"a/b~c d": {}}}, ""),
        ({"properties": {"$id": {"type": "string"}, "$ref": {}}}, ""),
        ({"$ref": "#/required/0", "required": ["a"]}, unresolved("#/required/0")),
        ({"$ref": "#/minLength/x", "minLength": 1}, unresolved("#/minLength/x")),
        ({"$dynamicRef": "#/properties", "properties": {"type": {"type": "string"}}},
         unresolved("#/properties")),
        ({"anyOf": [{"$ref": "file:///x"}]},
         "$: the reference 'file:///x' leads outside the schema."),
    ],
)  # fmt: skip
def test_a_schema_is_checked_and_nothing_is_fetched_for_it(schema: Any, fault: str) -> None:
    assert schema_fault(schema) == fault


def test_a_generated_schema_is_made_self_contained() -> None:
    generated = {
        "title": "Parameters",
        "type": "object",
        "properties": {
            "title": {"title": "Title", "type": "string", "default": "x"},
            "rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}},
            "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["rows"],
        "$defs": {"Row": {"title": "Row", "properties": {"n": {"title": "N", "type": "number"}}}},
    }

    assert self_contained(generated) == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "rows": {"type": "array", "items": {"properties": {"n": {"type": "number"}}}},
            "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["rows"],
    }
    assert self_contained({"type": "object"}) == {"type": "object"}


def test_a_schema_without_an_end_is_refused() -> None:
    deep: Any = {}
    for _ in range(5000):
        deep = {"not": deep}

    assert schema_fault(deep) == "$: it is nested too deeply."
    assert data_faults(1, {"$ref": "#"}) == ("$: the schema refers to itself without an end.",)


def test_data_is_checked_with_the_path_of_every_fault() -> None:
    schema = {"properties": {"rows": {"items": {"required": ["n"]}}, "a": {"type": "string"}}}

    assert data_faults({"rows": [{"n": 1}, {}], "a": 5}, schema) == (
        "$.a: 5 is not of type 'string'",
        "$.rows[1]: 'n' is a required property",
    )
    assert data_faults({}, None) == ()
    (lost,) = data_faults(1, {"$ref": "#/nowhere"})
    assert lost == "$: the schema's reference '/nowhere' leads nowhere."
    assert len(data_faults([1] * 50, {"items": {"type": "string"}})) == 10
