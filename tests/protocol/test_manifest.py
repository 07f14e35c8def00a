"""The discovery documents."""

from dataclasses import replace
import json
from pathlib import Path
from typing import Any

import pytest

from protocol import features
from protocol.features import (
    FEATURE_KEYS,
    FEATURES,
    CopilotCard,
    CustomFeature,
    CustomFeatureType,
    ModelChoice,
    agents_json,
    copilots_json,
)

GOLDEN = Path(__file__).parent.parent / "golden" / "documents"
PLAIN = CopilotCard(
    slug="plain", name="Plain", description="", query_url="https://x.example/v1/plain/query"
)
FULL = CopilotCard(
    slug="news-reader",
    name="News Reader",
    description="Reads the news.",
    query_url="https://x.example/v1/copilots/news-reader/query",
    feedback_url="https://x.example/v1/copilots/news-reader/feedback",
    image_url="https://x.example/image.png",
    models=(ModelChoice("fast", "Fast"), ModelChoice("deep", "Deep")),
    features=frozenset({"widget-dashboard-select", "widget-global-search"}),
    custom_features=(
        CustomFeature(key="deep-research", label="Deep Research", description="Takes longer."),
        CustomFeature(key="tone", label="Tone", type=CustomFeatureType.SELECT, default="short",
                      options=(("Short", "short"), ("Long", "long"))),
        CustomFeature(key="house-view", label="House view", type=CustomFeatureType.TEXT, default="",
                      placeholder="e.g. bullish"),
    ),
)  # fmt: skip


def agent(card: CopilotCard) -> Any:
    return agents_json([card])[card.slug]


@pytest.mark.parametrize("write", [agents_json, copilots_json])
def test_document_is_golden(write, monkeypatch: pytest.MonkeyPatch):
    known = json.loads((GOLDEN / "agents_json.json").read_text())[PLAIN.slug]["features"]
    kept = [feature for feature in FEATURES if feature.key in known]
    monkeypatch.setattr(features, "FEATURES", kept)  # without those that are newer
    document = json.dumps(write([PLAIN, FULL]), indent=2) + "\n"
    assert document == (GOLDEN / f"{write.__name__}.json").read_text()


def test_feedback_is_advertised_with_its_feature_only():
    assert "feedback" not in agent(FULL)["endpoints"]
    card = replace(FULL, features=frozenset({"feedback"}))
    assert agent(card)["endpoints"]["feedback"] == FULL.feedback_url


def test_every_built_feature_is_advertised_on_or_off():
    for key in FEATURE_KEYS:
        on = replace(PLAIN, features=frozenset({key}))
        assert agent(on)["features"][key]
        assert agent(PLAIN)["features"][key] is False
