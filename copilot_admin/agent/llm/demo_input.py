"""Input of the demo model: the question, its data, and the offered tools."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import json
import re

from copilot_admin.agent.values.model_call import ModelCall, ModelMessage, ModelRole, ToolSchema
from protocol.functions import GET_SKILL_CONTENT, GET_WIDGET_DATA
from protocol.json import Json, JsonObject, is_number, json_of

# A block without an end doesn't count.
_BLOCK = re.compile(
    r'^<data source=("(?:[^"\\\n]|\\.)*")[^\n]*>\n(.*?)\n</data>', re.MULTILINE | re.DOTALL
)
_MAX_ROWS = 200
_ARTIFACT_SHOWN = "The user now sees "

Row = Mapping[str, str | int | float | bool | None]


@dataclass(frozen=True, slots=True)
class DataBlock:
    """A block of data in the model's input."""

    source: str
    body: str

    @property
    def rows(self) -> Sequence[Row]:
        """The rows of the block, if it is a table; nested values become text."""
        value = json_of(self.body)
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            return ()
        return [{key: _cell(cell) for key, cell in row.items()} for row in value[:_MAX_ROWS]]


@dataclass(frozen=True, slots=True)
class Scene:
    """Input of the demo model: role, question, data and tools already used."""

    role: str
    question: str
    widgets: Sequence[JsonObject]
    skills: Sequence[JsonObject]
    blocks: Sequence[DataBlock]
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
    return Scene(
        role=next((line for line in system.splitlines() if line.strip()), ""),
        question=question.partition("\n\n<data ")[0],
        widgets=_listed_in(system, for_tool=GET_WIDGET_DATA, key="id"),
        skills=_listed_in(system, for_tool=GET_SKILL_CONTENT, key="slug"),
        blocks=[blocks for text in (question, *results) for blocks in _blocks_in(text)],
        used=frozenset(one.name for message in turn for one in message.tool_calls),
        results=[text for text in results if not text.startswith(("<data ", _ARTIFACT_SHOWN))],
        tools=call.tools,
    )


def numeric_columns(rows: Sequence[Row]) -> list[str]:
    """Return the columns that contain only numbers."""
    columns = dict.fromkeys(key for row in rows for key in row)
    return [column for column in columns if all(is_number(row.get(column, 0)) for row in rows)]


def _turn(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
    for number in range(len(messages) - 1, -1, -1):
        if messages[number].role is ModelRole.USER:
            return messages[number:]
    return ()


def _listed_in(system: str, *, for_tool: str, key: str) -> Sequence[JsonObject]:
    """Return the lines that the prompt lists for a tool."""
    lists = (blocks for blocks in _blocks_in(system) if for_tool in blocks.source)
    found = [json_of(line) for blocks in lists for line in blocks.body.splitlines()]
    return [one for one in found if isinstance(one, dict) and key in one]


def _blocks_in(text: str) -> Iterator[DataBlock]:
    for source, body in _BLOCK.findall(text):
        name = json_of(source)
        if isinstance(name, str):
            yield DataBlock(name, body)


def _cell(value: Json) -> str | int | float | bool | None:
    if isinstance(value, str | int | float) or value is None:
        return value
    return json.dumps(value, ensure_ascii=False)
