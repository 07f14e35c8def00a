"""Copilot files are read without surprises: choices, defaults, names, and what a list of records may have."""

import pytest

from copilot_admin.agent.values.spec import CitationMode, StepPlace, WidgetDataMode
from copilot_admin.import_export.schema import CopilotEntry, validate
from copilot_admin.models import Access, Logging
from protocol.events import StatusLevel
from protocol.features import FEATURE_KEYS, CustomFeatureType
from tests.import_export.small_files import NOTE, SMALLEST


def test_the_choices_of_the_file_are_those_of_the_engine_and_the_models():
    fields = CopilotEntry.model_json_schema()
    properties, parts = fields["properties"], fields["$defs"]

    assert set(properties["widget_data"]["enum"]) == set(WidgetDataMode)
    assert set(properties["citations"]["enum"]) == {*CitationMode, "documents"}
    assert set(properties["logging"]["enum"]) == set(Logging.values)
    assert set(properties["access"]["anyOf"][0]["enum"]) == set(Access.values)
    assert set(parts["StepEntry"]["properties"]["at"]["enum"]) == set(StepPlace)
    assert set(parts["StepEntry"]["properties"]["type"]["enum"]) == set(StatusLevel)
    assert set(parts["CustomFeatureEntry"]["properties"]["type"]["enum"]) == set(CustomFeatureType)
    assert set(parts["FeaturesEntry"]["properties"]) == {
        "streaming",
        *FEATURE_KEYS,
    }


@pytest.mark.parametrize(
    ("written", "row"),
    [
        ("calculator@v1", {"name": "calculator", "version": "v1"}),
        ("calculator", {"name": "calculator", "version": "latest"}),
        ({"name": "calculator", "version": "1"}, {"name": "calculator", "version": "1"}),
        (
            {"name": "calculator", "version": "v1", "config": {"places": 2}},
            {"name": "calculator", "version": "v1", "config": {"places": 2}},
        ),
    ],
)
def test_a_component_is_named_in_short_or_at_length(written, row):
    values = {"format": 1, "copilots": [{**SMALLEST, "components": [written]}]}
    assert validate(values).copilots[0].document()["components"] == [row]


def test_data_notes_and_their_switches_are_taken_over():
    entry = validate(
        {
            "format": 1,
            "copilots": [
                {
                    **SMALLEST,
                    "data": [
                        {**NOTE, "instance": "a", "description": "Who asks.", "enabled": False},
                        {"data": None},
                        {"kind": "state", "schema": True},
                    ],
                    "data_messages": {"widgets": True, "merge": False, "context": False},
                }
            ],
        }
    ).copilots[0]

    assert entry.document()["data"] == [
        {**NOTE, "instance": "a", "description": "Who asks.", "enabled": False},
        {"kind": "data", "data": None},
        {"kind": "state", "schema": True},
    ]
    assert entry.document()["data_messages"] == {"widgets": True, "merge": False}
