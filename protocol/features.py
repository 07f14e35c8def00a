"""The features that a copilot can advertise to Workspace, one row each.

Source: the feature keys of `agents.json` and `copilots.json`. Add a feature only when its
behaviour is built: the admin draws a switch for every row, the discovery documents advertise it,
and the copilot file accepts it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from protocol.json import Json


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
