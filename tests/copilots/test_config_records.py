"""Custom features, as the form stores them and the engine reads them."""

from typing import Any

from copilot_admin.admin.copilots.rows import CustomFeatureRow
from copilot_admin.agent.values.spec import custom_feature
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
