"""Values of which only the beginning was read; what is cut says so by its type."""

import json

from protocol.json import Json

LONGEST_ESCAPE = 12  # characters of JSON for one character


class CutText(str):
    """The beginning of a text."""

    __slots__ = ()


class CutList(list[Json]):
    """The beginning of a list."""

    __slots__ = ()


def parsed(data: bytes) -> Json:
    """A part; where its end was not unpacked, the beginning of its text."""
    try:
        value: Json = json.loads(data)
    except ValueError:
        return CutText(_text_at_the_head(data.decode(errors="ignore")))
    return value


def _text_at_the_head(json_text: str) -> str:
    """What stands in a JSON string without an end; the JSON itself of anything else."""
    if not json_text.startswith('"'):
        return json_text
    for end in range(len(json_text), max(len(json_text) - LONGEST_ESCAPE, 0), -1):
        try:
            return str(json.loads(json_text[:end] + '"'))
        except ValueError:  # it ends within an escape
            continue
    return ""
