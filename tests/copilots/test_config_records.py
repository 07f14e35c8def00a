"""A control of the builder's own is the same, whether it came by file or by form."""

from typing import Any

import pytest

from copilot_admin.admin.copilots.rows import CustomFeatureRow
from copilot_admin.agent.values.document import custom_feature
from copilot_admin.copilots.config_records import CustomFeatureEntry
from protocol.features import CustomFeature, CustomFeatureType

CONTROLS: dict[str, dict[str, Any]] = {
    "toggle": {
        "key": "deep-research",
        "label": "Deep Research",
        "type": "toggle",
        "description": "Takes longer.",
        "default": True,
        "states": {"on": "Enabled", "off": "Disabled"},
        "model": "m-2",
        "provider": "Other",
    },
    "select": {
        "key": "tone",
        "label": "Tone",
        "type": "select",
        "description": "How it sounds.",
        "options": [{"label": "Short", "value": "brief"}, {"label": "long", "value": "long"}],
        "default": "long",
    },
    "text": {
        "key": "house-view",
        "label": "House view",
        "type": "text",
        "description": "What we think.",
        "default": "neutral",
        "placeholder": "bullish",
    },
}
every_control = pytest.mark.parametrize("row", CONTROLS.values(), ids=list(CONTROLS))


@every_control
def test_a_file_stores_the_control_as_it_is(row: dict[str, Any]) -> None:
    assert CustomFeatureEntry.model_validate(row).row() == row


@every_control
def test_the_form_shows_a_stored_control_and_stores_the_same(row: dict[str, Any]) -> None:
    form = CustomFeatureRow(CustomFeatureRow.initial_of(row))
    assert form.is_valid()
    assert form.row() == row


def test_the_form_stores_nothing_that_the_type_does_not_have() -> None:
    given = {**CustomFeatureRow.initial_of(CONTROLS["toggle"]), "type": "text", "default": "x"}
    form = CustomFeatureRow({**given, "placeholder": "y"})
    assert form.is_valid()
    assert form.row() == {
        "key": "deep-research",
        "label": "Deep Research",
        "type": "text",
        "description": "Takes longer.",
        "default": "x",
        "placeholder": "y",
    }


def test_the_engine_reads_every_key_of_a_control() -> None:
    assert [custom_feature(row) for row in CONTROLS.values()] == [
        CustomFeature(
            key="deep-research",
            label="Deep Research",
            default=True,
            description="Takes longer.",
            state_on="Enabled",
            state_off="Disabled",
            model="m-2",
            provider="Other",
        ),
        CustomFeature(
            key="tone",
            label="Tone",
            type=CustomFeatureType.SELECT,
            default="long",
            description="How it sounds.",
            options=(("Short", "brief"), ("long", "long")),
        ),
        CustomFeature(
            key="house-view",
            label="House view",
            type=CustomFeatureType.TEXT,
            default="neutral",
            description="What we think.",
            placeholder="bullish",
        ),
    ]
