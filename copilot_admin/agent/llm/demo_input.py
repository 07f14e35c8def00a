"""Input of the demo model: the question, the data with it, and the tools on offer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import json
import re

from copilot_admin.agent.values.model_call import ModelCall, ModelMessage, ModelRole, ToolSchema
from protocol.functions import GET_SKILL_CONTENT, GET_WIDGET_DATA
from protocol.json import Json, JsonObject, is_number

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
    """Return the lines that the prompt lists for a tool."""
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


_ARTIFACT_SHOWN = "The user now sees "
_MAX_QUESTION = 100_000  # characters


@dataclass(frozen=True, slots=True)
class Scene:
    """Input of the demo model: role, question, data and tools already used."""

    role: str
    question: str
    widgets: Sequence[JsonObject]
    skills: Sequence[JsonObject]
    given: Sequence[Given]
    used: frozenset[str]
    results: Sequence[str]
    tools: Sequence[ToolSchema]

    def may(self, tool: str) -> bool:
        """Return whether a tool is offered and not yet used for this question."""
        return tool not in self.used and any(one.name == tool for one in self.tools)


def read_scene(call: ModelCall) -> Scene:
    """Return the input of the last question."""
    system = "\n".join(one.text for one in call.messages if one.role is ModelRole.SYSTEM)
    turn = _turn(call.messages)
    question = turn[0].text if turn else ""
    results = [one.text for one in turn if one.role is ModelRole.TOOL]
    texts = [question, *results]
    return Scene(
        role=next((line for line in system.splitlines() if line.strip()), ""),
        question=question.partition("\n\n<data ")[0][:_MAX_QUESTION],
        widgets=listed_in(system, for_tool=GET_WIDGET_DATA, key="id"),
        skills=listed_in(system, for_tool=GET_SKILL_CONTENT, key="slug"),
        given=[given for text in texts for given in blocks_in(text)],
        used=frozenset(one.name for message in turn for one in message.tool_calls),
        results=[text for text in results if not text.startswith(("<data ", _ARTIFACT_SHOWN))],
        tools=call.tools,
    )


def _turn(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
    for number in range(len(messages) - 1, -1, -1):
        if messages[number].role is ModelRole.USER:
            return messages[number:]
    return ()


def numeric_columns(rows: Sequence[Row]) -> list[str]:
    """Return the columns that hold only numbers."""
    columns = dict.fromkeys(key for row in rows for key in row)
    return [column for column in columns if all(is_number(row.get(column, 0)) for row in rows)]
