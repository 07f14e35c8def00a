"""Data notes of a copilot: stored, exported and imported as they are, checked against schemas."""

import doctest
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.copilot_file.exporting import export_file
from copilot_admin.copilot_file.importing import Effect, import_values
from copilot_admin.models import Copilot, CopilotVersion
from protocol import json_schema
from protocol.json_schema import data_faults, schema_fault, schema_from

NOTES: list[dict[str, Any]] = [
    {
        "kind": "user",
        "description": "Who asks.",
        "data": {"zone": "Rome", "age": 30, "name": "Ada"},
        "schema": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
    {"kind": "state", "data": None, "instance": "a", "enabled": False},
]
FILE: dict[str, Any] = {
    "format": 1,
    "providers": [{"name": "Practice", "kind": "rehearsal"}],
    "copilots": [
        {
            "slug": "macro",
            "name": "Macro",
            "provider": "Practice",
            "model": "m",
            "access": "open",
            "data": NOTES,
            "data_messages": {"context": True, "merge": False},
        }
    ],
}


@pytest.mark.django_db
def test_notes_survive_import_publishing_and_export_with_the_order_of_their_keys() -> None:
    import_values(FILE, default_access="open", publishing=True)

    version = CopilotVersion.objects.get()
    for entry in (export_file()["copilots"][0], export_file(live=True)["copilots"][0]):
        assert json.dumps(entry["data"]) == json.dumps(NOTES)
        assert entry["data_messages"] == {"context": True, "merge": False}
    assert version.document["data"] == NOTES
    again = import_values(export_file(), default_access="open", publishing=True)
    assert [change.effect for change in again] == [Effect.UNCHANGED, Effect.UNCHANGED]


@pytest.mark.django_db
def test_absent_keys_take_the_notes_away() -> None:
    import_values(FILE, default_access="open")
    bare = {
        key: value
        for key, value in FILE["copilots"][0].items()
        if key not in ("data", "data_messages")
    }

    import_values({**FILE, "copilots": [bare]}, default_access="open")

    copilot = Copilot.objects.get()
    assert (copilot.data_notes, copilot.data_messages) == ([], {})
    assert not {"data", "data_messages"} & export_file()["copilots"][0].keys()


def test_the_examples_of_the_docstrings_are_true() -> None:
    outcome = doctest.testmod(json_schema)

    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        (None, ""),
        (True, ""),
        ({"$ref": "#/$defs/a", "$defs": {"a": {}}}, ""),
        (5, "$: 5 is not of type 'object', 'boolean'"),
        (
            {"anyOf": [{"$ref": "file:///x"}]},
            "$: the reference 'file:///x' leads outside the schema.",
        ),
    ],
)
def test_a_schema_is_checked_and_nothing_is_fetched_for_it(schema: Any, fault: str) -> None:
    assert schema_fault(schema) == fault


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
    assert data_faults(1, {"$ref": "#/nowhere"}) == (
        "$: the schema's reference '/nowhere' leads nowhere.",
    )
    assert len(data_faults([1] * 50, {"items": {"type": "string"}})) == 10


@pytest.mark.parametrize(
    ("example", "schema"),
    [
        (None, {}),
        (True, {"type": "boolean"}),
        (1, {"type": "integer"}),
        (1.5, {"type": "number"}),
        ([], {"type": "array"}),
    ],
)
def test_a_schema_is_made_from_an_example(example: Any, schema: Any) -> None:
    assert schema_from(example) == schema


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=1) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(JSON)
def test_an_example_fits_its_own_schema(example: Any) -> None:
    schema = schema_from(example)

    assert schema_fault(schema) == ""
    assert data_faults(example, schema) == ()
