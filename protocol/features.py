"""The features that a copilot can advertise, and the two documents in which Workspace finds it.

Source: the feature keys of `agents.json` (generation 3) and `copilots.json` (generations 1 and 2).
Add a feature only when its behaviour is built: the admin draws a switch for every row, the
documents advertise it, and the copilot file accepts it. Workspace rejects a complete document for
one invalid entry: entries are made of typed values only.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from protocol.json import Json

_FLAGS_OF_TWO = (
    "streaming",
    "file-upload",
    "widget-dashboard-select",
    "widget-dashboard-search",
    "widget-global-search",
)
_WIDGET_FLAGS = frozenset(_FLAGS_OF_TWO[2:])


def gettext_noop(text: str) -> str:
    """Mark a text for translation in the admin; return it as it is."""
    return text


@dataclass(frozen=True, slots=True)
class Feature:
    """A switch of Workspace that a copilot may offer."""

    key: str
    label: str
    help: str
    default: bool = False
    as_toggle: str = ""  # label if agents.json displays a control instead of a plain flag


FEATURES = (
    Feature(
        "widget-dashboard-select",
        gettext_noop("Selected widgets"),
        gettext_noop("Users may pick widgets with @ and the copilot may read their data."),
    ),
    Feature(
        "widget-dashboard-search",
        gettext_noop("Dashboard widgets"),
        gettext_noop(
            "The copilot is told which widgets are on the dashboard and may ask for their data."
        ),
    ),
    Feature(
        "widget-global-search",
        gettext_noop("All widgets"),
        gettext_noop(
            "Users may switch on global data: the copilot then sees every widget of Workspace."
        ),
    ),
    Feature(
        "file-upload",
        gettext_noop("Files"),
        gettext_noop("Users may attach documents, workbooks, text files and images to a question."),
    ),
    Feature(
        "generative-ui",
        gettext_noop("Change the dashboard"),
        gettext_noop(
            "Users may let the copilot add and change widgets and tabs of their dashboard."
        ),
    ),
    Feature(
        "mcp-tools",
        gettext_noop("MCP tools"),
        gettext_noop("Users may give the copilot the tools of their MCP servers."),
    ),
    Feature(
        "agent-orchestration",
        gettext_noop("Other agents"),
        gettext_noop("The copilot may give tasks to other agents of the user's workspace."),
    ),
    Feature(
        "prompt-suggestions",
        gettext_noop("Follow-up suggestions"),
        gettext_noop("After an answer the copilot suggests what to ask next."),
        as_toggle="Follow-up suggestions",
    ),
    Feature(
        "feedback",
        gettext_noop("Feedback"),
        gettext_noop("Users may judge an answer; their thumbs stand in the transcript."),
    ),
)
FEATURE_KEYS = frozenset(feature.key for feature in FEATURES)
DEFAULT_FEATURES = frozenset(feature.key for feature in FEATURES if feature.default)


class CustomFeatureType(StrEnum):
    """The control that Workspace draws for a custom feature."""

    TOGGLE = "toggle"
    TEXT = "text"
    SELECT = "select"


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomFeature:
    """A control defined by the builder; its value reaches the prompt as `{{ options.<key> }}`."""

    key: str
    label: str
    type: CustomFeatureType = CustomFeatureType.TOGGLE
    default: bool | str = False
    description: str = ""
    placeholder: str = ""
    options: tuple[tuple[str, str], ...] = ()  # (label, value)
    state_on: str = "on"
    state_off: str = "off"
    model: str = ""  # the model that answers while a toggle is on; "" for the copilot's own
    provider: str = ""  # the name of that model's provider; "" for the copilot's own

    def to_json(self) -> Mapping[str, Json]:
        """Return the object of `agents.json` for this feature."""
        row: dict[str, Json] = {"label": self.label, "type": self.type, "default": self.default}
        if self.description:
            row["description"] = self.description
        if self.placeholder and self.type is CustomFeatureType.TEXT:
            row["placeholder"] = self.placeholder
        if self.type is CustomFeatureType.SELECT:
            row["options"] = [{"label": label, "value": value} for label, value in self.options]
        return row


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
    features: dict[str, Json] = {"streaming": True}
    for one in FEATURES:
        shown: Json = {"label": one.as_toggle, "default": True} if one.as_toggle else True
        features[one.key] = shown if one.key in card.features else False
    features |= {custom.key: custom.to_json() for custom in card.custom_features}
    models: list[Json] = [{"id": model.id, "name": model.name} for model in card.models]
    return {
        **_description(card),
        "endpoints": endpoints,
        "features": features,
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
