"""Reads an answer exactly as the front end of Workspace does, and refuses what it would choke on.

Source: the rules of its stream reader and of its chat; see each step.
"""

from collections.abc import Iterable, Mapping
import json
import re
from typing import Any

_BLOCKS = re.compile(r"\r\n\r\n|\n\n|\r\r")
_LINES = re.compile(r"\r\n|\n|\r")
# In JavaScript a dot stops at these; a raw one in JSON text would cut the data off.
_LINE = re.compile(r"(?P<field>[^:]+)(?:: ?(?P<value>[^\n\r\u2028\u2029]*))?")
_NAMES = (
    "MessageChunk FunctionCall StatusUpdate MessageArtifact CitationCollection PromptSuggestions"
)
KNOWN = frozenset(f"copilot{name}" for name in _NAMES.split())


class Choked(AssertionError):
    """The front end would have ended the answer with an error here, or lost a part of it."""


def events_of(stream: bytes) -> list[tuple[str, Any]]:
    """Return name and data of the events of a stream, in order."""
    *blocks, rest = _BLOCKS.split(stream.decode())
    if rest.strip():
        raise Choked(f"the last block is thrown away: {rest!r}")
    return [event for block in blocks for event in _event(block)]


def _event(block: str) -> list[tuple[str, Any]]:
    name, data = "message", []
    for line in filter(None, _LINES.split(block)):
        if line.startswith(":"):
            continue
        found = _LINE.match(line)
        if found is None or found.end() != len(line):
            raise Choked(f"a line is cut off: {line!r}")
        if found["field"] == "event":
            name = found["value"]
        elif found["field"] == "data":
            data.append(found["value"] or "")
    if not data:
        return []
    if name not in KNOWN:
        raise Choked(f"{name!r} is ignored with a warning")
    try:
        return [(name, json.loads("\n".join(data)))]
    except ValueError as error:
        raise Choked(f"the data of {name!r} is not JSON: {data!r}") from error


def check_shown(events: Iterable[tuple[str, Any]], *, artifacts: set[str]) -> None:
    """Refuse what would be lost or shown in a wrong place, and add the names of artifacts."""
    ended = ""
    for name, data in events:
        if ended:
            raise Choked(f"{name} comes behind {ended}")
        if name == "copilotStatusUpdate":
            _check_step(data)
        elif name == "copilotMessageArtifact":
            if data["name"] in artifacts:
                raise Choked(f"two artifacts are called {data['name']!r}: the first one is shown")
            artifacts.add(data["name"])
        elif name in ("copilotPromptSuggestions", "copilotFunctionCall"):
            ended = name


def _check_step(data: Mapping[str, Any]) -> None:
    if data["eventType"] == "ERROR":
        raise Choked("an ERROR deletes the last question and its answer")
    if data["group"] != "reasoning":
        raise Choked(f"nobody shows the group {data['group']!r}")
