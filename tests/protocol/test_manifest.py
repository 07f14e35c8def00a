"""The discovery documents."""

from dataclasses import replace
import json
from pathlib import Path

import pytest

from protocol import manifest
from protocol.features import FEATURE_KEYS, CustomFeature, CustomFeatureType, Feature
from protocol.manifest import CopilotCard, ModelChoice, agents_json, copilots_json

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
        CustomFeature(
            key="tone",
            label="Tone",
            type=CustomFeatureType.SELECT,
            default="short",
            options=(("Short", "short"), ("Long", "long")),
        ),
        CustomFeature(
            key="house-view",
            label="House view",
            type=CustomFeatureType.TEXT,
            default="",
            placeholder="e.g. bullish",
        ),
    ),
)


@pytest.mark.parametrize("write", [agents_json, copilots_json])
def test_document_is_golden(write):
    document = json.dumps(write([PLAIN, FULL]), indent=2) + "\n"
    assert document == (GOLDEN / f"{write.__name__}.json").read_text()


def test_no_copilots_make_an_empty_document():
    assert agents_json([]) == copilots_json([]) == {}


def test_copilots_json_has_booleans_only():
    entry = copilots_json([FULL])["news-reader"]
    assert all(isinstance(value, bool) for value in entry["features"].values())
    assert entry["hasFunctionCalling"] is True
    assert entry["hasDocuments"] is False


def test_uploads_count_as_documents():
    card = replace(PLAIN, features=frozenset({"file-upload"}))
    assert copilots_json([card])["plain"]["hasDocuments"] is True
    assert copilots_json([card])["plain"]["features"]["file-upload"] is True


def test_address_with_a_query_gets_the_hint_too():
    card = replace(PLAIN, query_url="https://x.example/q?a=1")
    assert copilots_json([card])["plain"]["endpoints"]["query"] == (
        "https://x.example/q?a=1&generation=2"
    )
    assert agents_json([card])["plain"]["endpoints"]["query"] == "https://x.example/q?a=1"


def test_feedback_is_advertised_with_its_feature_only():
    assert "feedback" not in agents_json([FULL])["news-reader"]["endpoints"]
    card = replace(FULL, features=frozenset({"feedback"}))
    assert agents_json([card])["news-reader"]["endpoints"]["feedback"] == FULL.feedback_url


def test_every_built_feature_is_advertised_on_or_off():
    for key in FEATURE_KEYS:
        on = replace(PLAIN, features=frozenset({key}))
        assert agents_json([on])["plain"]["features"][key]
        assert agents_json([PLAIN])["plain"]["features"][key] is False


def test_feature_can_be_shown_as_a_toggle(monkeypatch: pytest.MonkeyPatch):
    feature = Feature(key="prompt-suggestions", label="x", help="x", as_toggle="Follow-ups")
    monkeypatch.setattr(manifest, "FEATURES", (feature,))
    on = replace(PLAIN, features=frozenset({"prompt-suggestions"}))
    assert agents_json([on])["plain"]["features"] == {
        "streaming": True,
        "prompt-suggestions": {"label": "Follow-ups", "default": True},
    }
