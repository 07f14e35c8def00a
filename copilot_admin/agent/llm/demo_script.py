"""Script of the demo model."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
import json
import re

from copilot_admin.agent.tools.artifacts import MAX_SERIES
from copilot_admin.agent.values.model_call import (
    ModelCall,
    ModelMessage,
    ModelRole,
    ToolCall,
    ToolSchema,
)
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


OPENING = "This is the demo model: no language model was asked."
_CHART_TYPES = ("line", "scatter", "pie", "donut", "bar")
_ONE_JOINT = str.maketrans("- ", "__")
_ANY_CASE = re.IGNORECASE | re.DOTALL
_EXCERPT = 300  # characters
_LONGEST_QUESTION = 100_000  # characters; nobody rehearses with more
_MOST_TOLD = 100  # pieces of data that are told one by one, or results of tools
_MOST_NAMES = 500  # tools or skills that are looked for in a question; each is one look through it


@dataclass(frozen=True, slots=True)
class Scene:
    """Input of the demo model: role, question, data and tools already used."""

    role: str
    question: str
    widgets: Sequence[JsonObject]
    skills: Sequence[JsonObject]
    given: Sequence[Given]
    used: frozenset[str]
    told: Sequence[str]
    tools: Sequence[ToolSchema]

    def may(self, tool: str) -> bool:
        """Return whether a tool is offered and not yet used for this question."""
        return tool not in self.used and any(one.name == tool for one in self.tools)


def next_move(call: ModelCall) -> ToolCall | str:
    """Returns the tool to call, or the whole answer.

    A skill that the question names comes first, then data, then a table or a chart if the question
    names one and there are rows, then any other offered tool whose name is in the question, then
    the answer.
    """
    scene = _scene(call)
    arguments = _next_arguments(scene)
    if arguments is None:
        return _answer(scene)
    name, values = arguments
    number = sum(len(message.tool_calls) for message in call.messages) + 1
    return ToolCall(
        id=f"rehearse{number}", name=name, arguments=json.dumps(values, ensure_ascii=False)
    )


def _scene(call: ModelCall) -> Scene:
    system = "\n".join(one.text for one in call.messages if one.role is ModelRole.SYSTEM)
    turn = _turn(call.messages)
    asked = turn[0].text if turn else ""
    results = [one.text for one in turn if one.role is ModelRole.TOOL]
    texts = [asked, *results]
    return Scene(
        role=next((line for line in system.splitlines() if line.strip()), ""),
        question=asked.partition("\n\n<data ")[0][:_LONGEST_QUESTION],
        widgets=listed_in(system, for_tool=GET_WIDGET_DATA, key="id"),
        skills=listed_in(system, for_tool=GET_SKILL_CONTENT, key="slug"),
        given=[given for text in texts for given in blocks_in(text)],
        used=frozenset(one.name for message in turn for one in message.tool_calls),
        told=[text for text in results if not text.startswith("<data ")],
        tools=call.tools,
    )


def _next_arguments(scene: Scene) -> tuple[str, JsonObject] | None:
    question = scene.question.lower()
    if scene.may(GET_SKILL_CONTENT) and (slug := _wanted_skill(scene)):
        return GET_SKILL_CONTENT, {"slug": slug}
    if scene.may(GET_WIDGET_DATA) and not scene.given and (ids := _wanted_ids(scene)):
        return GET_WIDGET_DATA, {"widgets": [{"id": one} for one in ids]}
    rows = next((one for one in scene.given if one.rows), None)
    for name, arguments_from in _DRAWN.items():
        if name in question and scene.may(name) and rows is not None:
            return name, arguments_from(rows, question)
    others = [one for one in scene.tools[:_MOST_NAMES] if one.name not in _BY_OWN_RULES]
    said = _named([one.name for one in others], scene.question)
    for tool in others:
        words = _words_for(tool.name, scene.question) if tool.name in said else None
        if words is not None and scene.may(tool.name):
            return tool.name, _plausible(tool.parameters, words)
    return None


def _named(names: Collection[str], question: str) -> Set[str]:
    text = _joined(question)
    return {name for name in names if _joined(name) in text}


def _joined(text: str) -> str:
    return text.lower().translate(_ONE_JOINT)


def _answer(scene: Scene) -> str:
    parts = [OPENING]
    if scene.role:
        parts.append(f"My role: {scene.role.strip()}")
    parts.append(f"You asked: {scene.question.strip()}")
    if scene.given:
        parts.append("I was given:\n" + "\n".join(_listing(scene.given)))
    parts.extend(f"A tool said: {text[:_EXCERPT]}" for text in scene.told[:_MOST_TOLD])
    return "\n\n".join(parts)


def _listing(given: Sequence[Given]) -> Iterator[str]:
    yield from (f"- {_summary(one)}" for one in given[:_MOST_TOLD])
    if len(given) > _MOST_TOLD:
        yield f"- and {len(given) - _MOST_TOLD:,} more"


def _summary(given: Given) -> str:
    rows = given.rows
    if rows:
        first = ", ".join(f"{key} {value}" for key, value in rows[0].items())
        return f"{given.source}: {len(rows)} rows; the first: {first[:_EXCERPT]}"
    return f"{given.source}: {given.body.strip()[:_EXCERPT]}"


def _table(given: Given, question: str) -> JsonObject:
    return {
        "name": given.source or "Data",
        "description": f"The rows of {given.source}.",
        "rows": given.rows,
    }


def _chart(given: Given, question: str) -> JsonObject:
    kind = next((one for one in _CHART_TYPES if one in question), "bar")
    columns = list(given.rows[0])
    numbers = _numeric_columns(given.rows)
    label = next((one for one in columns if one not in numbers), columns[0])
    if kind == "scatter" and numbers:
        label = numbers[0]
    values = ([one for one in numbers if one != label] or numbers or columns[:1])[:MAX_SERIES]
    return {
        "name": given.source or "Data",
        "description": f"{given.source} as a {kind} chart.",
        "type": kind,
        "rows": given.rows,
        "x": label,
        "y": values[:1] if kind in ("pie", "donut") else values,
    }


_DRAWN: Mapping[str, Callable[[Given, str], JsonObject]] = {"table": _table, "chart": _chart}
_BY_OWN_RULES = frozenset({*_DRAWN, GET_WIDGET_DATA, GET_SKILL_CONTENT})


def _wanted_skill(scene: Scene) -> str:
    slugs = [str(one["slug"]) for one in scene.skills[:_MOST_NAMES]]
    said = _named(slugs, scene.question)
    named = (
        one for one in slugs if one in said and _words_for(one.replace("-", "_"), scene.question)
    )
    first = slugs[0] if slugs and "skill" in scene.question.lower() else ""
    return next(named, first)


def _wanted_ids(scene: Scene) -> list[Json]:
    question = scene.question.lower()
    named = [one for one in scene.widgets if str(one.get("name", "")).lower() in question]
    selected = [one for one in scene.widgets if one.get("selected")]
    return [one["id"] for one in named or selected or scene.widgets[:1]]


def _words_for(tool: str, question: str) -> str | None:
    """Return the part of the question for a tool: the text behind its name and a colon, else all.

    Returns:
        None when the question does not name the tool.
    """
    name = re.escape(tool.lower()).replace("_", "[-_ ]")
    found = re.search(rf"(?<![a-z0-9_]){name}(?![a-z0-9_])(?:\s*:\s*(.+))?", question, _ANY_CASE)
    if found is None:
        return None
    return (found[1] or question).strip()


def _plausible(schema: Mapping[str, Json], question: str) -> JsonObject:
    properties = schema.get("properties")
    required = schema.get("required")
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return {}
    return {name: _value(properties.get(name), question) for name in required}


def _value(schema: Json, question: str) -> Json:
    match schema:
        case {"enum": [first, *_]}:
            return first
        case {"type": "integer" | "number"}:
            return 1
        case {"type": "boolean"}:
            return True
        case {"type": "array"}:
            return []
        case {"type": "object"}:
            return {}
    return question


def _turn(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
    for number in range(len(messages) - 1, -1, -1):
        if messages[number].role is ModelRole.USER:
            return messages[number:]
    return ()


def _numeric_columns(rows: Sequence[Row]) -> list[str]:
    columns = dict.fromkeys(key for row in rows for key in row)
    return [column for column in columns if all(is_number(row.get(column, 0)) for row in rows)]
