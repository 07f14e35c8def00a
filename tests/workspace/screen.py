"""What somebody in Workspace sees of a chat: bubbles of text, steps between them, suggestions.

Source: the rules by which its front end takes the events of an answer; see each step.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.workspace.stream import Choked

# Keys of a step's details that the front end takes for its own and does not show.
TAKEN_KEYS = frozenset(
    {"lastupdated", "source", "id", "uuid", "storedfileuuid", "url", "datakey"}
    | {"originalfilename", "extension", "category", "subcategory", "transcript_url"}
)


@dataclass
class Screen:
    """A chat as it is shown.

    Attributes:
        shown: Bubbles as text, steps as tuples of level, message and details, in order.
        loading: Whether something said that more comes.
    """

    shown: list[str | tuple[str, str, list[Any]]] = field(default_factory=list)
    suggestions: list[str] = field(default_factory=list)
    loading: bool = False
    _text: str = ""
    _artifacts: set[str] = field(default_factory=set)

    def take(self, events: Iterable[tuple[str, Any]]) -> None:
        """Takes the events of one stream.

        Raises:
            Choked: Something would be lost, or shown in a wrong place.
        """
        self.suggestions, ended = [], ""
        for name, data in events:
            if ended:
                raise Choked(f"{name} comes behind {ended}")
            ended = self._take(name, data)
        self._flush()

    def _take(self, name: str, data: Mapping[str, Any]) -> str:
        """Takes one event; returns its name if nothing may follow."""
        match name:
            case "copilotMessageChunk":
                self._text += data["delta"]
            case "copilotStatusUpdate":
                self._step(data)
            case "copilotMessageArtifact":
                self._artifact(data["name"])
            case "copilotCitationCollection":
                # A citation is found by its id; without one it is not shown.
                self._text += "".join(
                    f'<citation className="{one["id"]}"/>' for one in data["citations"]
                )
            case "copilotPromptSuggestions":
                self.suggestions = data["suggestions"]
                return name
            case "copilotFunctionCall":
                return name
        return ""

    def _step(self, data: Mapping[str, Any]) -> None:
        if data["eventType"] == "ERROR":
            raise Choked("an ERROR deletes the last question and its answer")
        if data["group"] != "reasoning":
            raise Choked(f"nobody shows the group {data['group']!r}")
        if data.get("hidden"):
            self.loading = True
            return
        self._flush()
        details = [_visible(one) for one in data.get("details") or []]
        self.shown.append((data["eventType"], data["message"], details))

    def _artifact(self, name: str) -> None:
        if name in self._artifacts:
            raise Choked(f"two artifacts of the chat are called {name!r}: the first one is shown")
        self._artifacts.add(name)
        self._text += f'<artifact className="{name}"/>'

    def _flush(self) -> None:
        """Ends a bubble: text after a step begins a new one."""
        if self._text:
            self.shown.append(self._text)
        self._text = ""


def _visible(detail: Any) -> Any:
    if not isinstance(detail, dict):
        return detail
    return {key: one for key, one in detail.items() if key.lower() not in TAKEN_KEYS}
