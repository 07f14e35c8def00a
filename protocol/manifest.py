"""The two documents in which Workspace finds the copilots of a server.

Source: `agents.json` (generation 3) and `copilots.json` (generations 1 and 2) of the copilot
protocol. Workspace rejects a complete document for one invalid entry: entries are made of typed
values only.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from protocol.features import FEATURES, CustomFeature, Feature
from protocol.json import Json

_FLAGS_OF_TWO = (
    "streaming",
    "file-upload",
    "widget-dashboard-select",
    "widget-dashboard-search",
    "widget-global-search",
)
_WIDGET_FLAGS = frozenset(_FLAGS_OF_TWO[2:])


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that the user may pick."""

    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CopilotCard:
    """The description of one copilot for Workspace; URLs are absolute."""

    slug: str
    name: str
    description: str
    query_url: str
    image_url: str | None = None
    # The target of feedback; advertised only while the feature `feedback` is on.
    feedback_url: str | None = None
    models: tuple[ModelChoice, ...] = ()
    features: frozenset[str] = frozenset()  # the keys of the features that are switched on
    custom_features: tuple[CustomFeature, ...] = ()


def agents_json(cards: Iterable[CopilotCard]) -> dict[str, Json]:
    """Return the document of generation 3."""
    return {card.slug: _agent(card) for card in cards}


def _agent(card: CopilotCard) -> dict[str, Json]:
    endpoints: dict[str, Json] = {"query": card.query_url}
    if card.feedback_url and "feedback" in card.features:
        endpoints["feedback"] = card.feedback_url
    models: list[Json] = [{"id": model.id, "name": model.name} for model in card.models]
    return {
        **_description(card),
        "endpoints": endpoints,
        "features": {
            "streaming": True,
            **{feature.key: _advertised(feature, card) for feature in FEATURES},
            **{custom.key: custom.to_json() for custom in card.custom_features},
        },
        **({"models": models} if models else {}),
    }


def copilots_json(cards: Iterable[CopilotCard]) -> dict[str, Json]:
    """Return the document of generations 1 and 2: booleans only, and a URL with a hint."""
    return {card.slug: _copilot(card) for card in cards}


def _copilot(card: CopilotCard) -> dict[str, Json]:
    on = card.features | {"streaming"}
    sign = "&" if urlsplit(card.query_url).query else "?"
    return {
        **_description(card),
        "hasStreaming": True,
        "hasDocuments": "file-upload" in on,
        "hasFunctionCalling": not _WIDGET_FLAGS.isdisjoint(on),
        "endpoints": {"query": f"{card.query_url}{sign}generation=2"},
        "features": {flag: flag in on for flag in _FLAGS_OF_TWO},
    }


def _description(card: CopilotCard) -> dict[str, Json]:
    image: dict[str, Json] = {"image": card.image_url} if card.image_url else {}
    return {"name": card.name, "description": card.description, **image}


def _advertised(feature: Feature, card: CopilotCard) -> Json:
    if feature.key not in card.features:
        return False
    return {"label": feature.as_toggle, "default": True} if feature.as_toggle else True
