"""A port of the rules by which Workspace reads a stream, to test what it would show.

The buffer is split on blank lines, the last
unterminated block is thrown away, comment lines are ignored, several data lines are joined, data
that is not JSON ends the answer. A JavaScript `.` stops at U+2028 and U+2029.
"""

import json
import re
from typing import Any

_BLOCK_END = re.compile(r"\r\n\r\n|\n\n|\r\r")
_LINE_END = re.compile(r"\r\n|\n|\r")
_LINE = re.compile(r"(?P<field>[^:]+)(?:: ?(?P<value>[^\n\r\u2028\u2029]*))?")


class AnswerEnds(Exception):
    """Workspace shows an error bubble in place of the rest."""


def as_workspace_reads(stream: bytes) -> list[tuple[str, Any]]:
    blocks = _BLOCK_END.split(stream.decode())[:-1]
    return [event for block in blocks if (event := _event(block))]


def _event(block: str) -> tuple[str, Any] | None:
    name, data = "", []
    for line in _LINE_END.split(block):
        if line.startswith(":"):
            continue
        match = _LINE.match(line)
        if match and match["field"] == "event":
            name = match["value"]
        if match and match["field"] == "data":
            data.append(match["value"])
    if not data:
        return None
    try:
        return name, json.loads("\n".join(data))
    except ValueError as error:
        raise AnswerEnds(block) from error
