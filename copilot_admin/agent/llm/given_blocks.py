"""The blocks of data in a prompt, as the rehearsal reads them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import json
import re

from protocol.json import Json, JsonObject

# Possessive, and only where a line begins: no character of a text is looked at twice.
_BLOCK_START = re.compile(r'<data source=("(?:[^"\\\n]|\\.)*+")[^\n]*+(?<=>)\n')
_BEGINS = "<data source="
_BLOCK_END = "\n</data>"
_MAX_ROWS = 200

Row = Mapping[str, str | int | float | bool | None]


@dataclass(frozen=True, slots=True)
class Given:
    """A block of data that the model was given."""

    source: str
    body: str

    @property
    def rows(self) -> Sequence[Row]:
        """The rows of the block, if it is a table; what is nested in them becomes text."""
        value = _parsed(self.body)
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            return ()
        return [{key: _cell(cell) for key, cell in row.items()} for row in value[:_MAX_ROWS]]


def listed_in(system: str, *, for_tool: str, key: str) -> Sequence[JsonObject]:
    """What the prompt lists for a tool, a line each; its source names the tool."""
    lists = (given for given in blocks_in(system) if for_tool in given.source)
    found = [_parsed(line) for given in lists for line in given.body.splitlines()]
    return [one for one in found if isinstance(one, dict) and key in one]


def blocks_in(text: str) -> Iterator[Given]:
    """The blocks of data in a text; a block that never ends is none, and neither is what follows."""
    start = 0
    while opening := _opening(text, start):
        end = text.find(_BLOCK_END, opening.end())
        if end < 0:
            return
        source = _parsed(opening[1])
        if isinstance(source, str):
            yield Given(source, text[opening.end() : end])
        start = end + len(_BLOCK_END)


def _opening(text: str, start: int) -> re.Match[str] | None:
    """The next beginning of a block, where a line begins.

    It is looked for as a text: an expression takes 0.2 s for 20 MB, and no thread runs meanwhile.
    """
    while (found := text.find(_BEGINS, start)) >= 0:
        begins_line = found == 0 or text[found - 1] == "\n"
        if begins_line and (opening := _BLOCK_START.match(text, found)):
            return opening
        start = found + 1
    return None


def _parsed(text: str) -> Json:
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _cell(value: Json) -> str | int | float | bool | None:
    if isinstance(value, str | int | float) or value is None:
        return value
    return json.dumps(value, ensure_ascii=False)
