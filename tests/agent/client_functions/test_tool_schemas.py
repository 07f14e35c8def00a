"""Schemas of the user's tools are such that providers take them."""

import pytest

from copilot_admin.agent.client_functions.mcp_tools import ANY_OBJECT, repair_schema
from protocol.json_schema import schema_fault

TEXT = {"type": "string"}


def of(**properties):
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("given", "repaired"),
    [
        (None, ANY_OBJECT),
        ({}, ANY_OBJECT),
        (True, ANY_OBJECT),
        ({"type": "array"}, ANY_OBJECT),
        ({"type": ["object", "null"]}, ANY_OBJECT),
        ({"$schema": "http://x", "type": "object", "properties": {"a": TEXT}}, of(a=TEXT)),
        (of(tags={"type": "array"}), of(tags={"type": "array", "items": {}})),
        (of(tags={"type": "array", "items": True}), of(tags={"type": "array", "items": {}})),
        (
            of(rows={"type": "array", "items": {"type": "array"}}),
            of(rows={"type": "array", "items": {"type": "array", "items": TEXT}}),
        ),
        (
            of(rows={"type": "array", "items": {"type": ["object", "null"]}}),
            of(rows={"type": "array", "items": {"type": "object"}}),
        ),
        (
            of(pair={"type": "array", "items": [TEXT, {"type": "number"}]}),
            of(pair={"type": "array", "items": {"anyOf": [TEXT, {"type": "number"}]}}),
        ),
        (of(any=True, one={"enum": []}), of(any={}, one={})),
        ({**of(a=TEXT), "required": ["a", "b"]}, {**of(a=TEXT), "required": ["a"]}),
        (of(items={"type": "string"}, type=TEXT), of(items=TEXT, type=TEXT)),
        (of(deep=of(tags={"type": "array"})), of(deep=of(tags={"type": "array", "items": {}}))),
    ],
)
def test_what_a_provider_refuses_is_repaired(given, repaired):
    assert repair_schema(given) == repaired


@pytest.mark.parametrize("name", ["anyOf", "oneOf"])
def test_of_alternatives_at_the_top_all_properties_are_offered(name):
    first = {**of(a=TEXT, c=TEXT), "required": ["a", "c"]}
    second = {**of(b=TEXT, c=TEXT), "required": ["b", "c"]}
    repaired = repair_schema({"type": "object", name: [first, second]})
    assert repaired == {**of(a=TEXT, b=TEXT, c=TEXT), "required": ["c"]}


def test_of_parts_at_the_top_all_are_required():
    repaired = repair_schema({"allOf": [{**of(a=TEXT), "required": ["a"]}, of(b=TEXT)]})
    assert repaired == {**of(a=TEXT, b=TEXT), "required": ["a"]}


def test_a_reference_at_the_top_is_followed():
    defs = {"Search": {**of(q=TEXT), "required": ["q"]}}
    repaired = repair_schema({"$ref": "#/$defs/Search", "$defs": defs})
    assert (repaired["properties"], repaired["required"]) == ({"q": TEXT}, ["q"])
    assert repair_schema({"$ref": "#/$defs/None"}) == ANY_OBJECT


def test_a_schema_without_faults_stays_what_it_is():
    schema = {
        **of(
            symbol={"type": "string", "description": "A symbol.", "enum": ["AAPL"]},
            rows={"type": "array", "items": of(day={"type": ["string", "null"]})},
            limit={"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 3},
        ),
        "required": ["symbol"],
        "additionalProperties": False,
    }
    assert repair_schema(schema) == schema
    assert schema_fault(repair_schema(schema)) == ""


def test_endless_nesting_ends():
    node = {}
    for _ in range(500):
        node = {"type": "array", "items": node}
    assert schema_fault(repair_schema(of(a=node))) == ""
