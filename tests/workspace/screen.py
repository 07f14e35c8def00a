"""Rules by which the front end of Workspace takes the events of an answer."""

from collections.abc import Iterable, Mapping
from typing import Any

from tests.workspace.stream import Choked


class Screen:
    """A chat as it is shown; refuses what would be lost, or shown in a wrong place."""

    def __init__(self) -> None:
        self._artifacts: set[str] = set()

    def take(self, events: Iterable[tuple[str, Any]]) -> None:
        """Take the events of one stream.

        Raises:
            Choked: The front end would not show them as they are meant.
        """
        ended = ""
        for name, data in events:
            if ended:
                raise Choked(f"{name} comes behind {ended}")
            if name == "copilotStatusUpdate":
                _check_step(data)
            elif name == "copilotMessageArtifact":
                self._add_artifact(data["name"])
            elif name in ("copilotPromptSuggestions", "copilotFunctionCall"):
                ended = name

    def _add_artifact(self, name: str) -> None:
        if name in self._artifacts:
            raise Choked(f"two artifacts of the chat are called {name!r}: the first one is shown")
        self._artifacts.add(name)


def _check_step(data: Mapping[str, Any]) -> None:
    if data["eventType"] == "ERROR":
        raise Choked("an ERROR deletes the last question and its answer")
    if data["group"] != "reasoning":
        raise Choked(f"nobody shows the group {data['group']!r}")
