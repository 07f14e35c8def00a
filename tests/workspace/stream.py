"""Reads an answer exactly as the front end of Workspace does, and refuses what it would choke on.

Source: the rules of its stream reader; see each step.
"""

import json
import re
from typing import Any

_BLOCKS = re.compile(r"\r\n\r\n|\n\n|\r\r")
_LINES = re.compile(r"\r\n|\n|\r")
# In JavaScript a dot stops at these; a raw one in JSON text would cut the data off.
_LINE = re.compile(r"(?P<field>[^:]+)(?:: ?(?P<value>[^\n\r\u2028\u2029]*))?")
KNOWN = frozenset(
    {
        "copilotMessageChunk",
        "copilotFunctionCall",
        "copilotStatusUpdate",
        "copilotMessageArtifact",
        "copilotCitationCollection",
        "copilotPromptSuggestions",
    }
)


class Choked(AssertionError):
    """The front end would have ended the answer with an error here."""


def events_of(stream: bytes) -> list[tuple[str, Any]]:
    """The events of a stream: name and data, in order.

    Raises:
        Choked: The front end would refuse the stream, or lose a part of it.
    """
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
