"""Built-in provider with prepared answers: no model, no network, no key."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
import json
import re
from typing import ClassVar, TypeAlias

from copilot_admin.agent.providers.demo_answers import (
    LABEL,
    DemoAnswer,
    find_demo_answer,
    suggest_questions,
)
from copilot_admin.agent.tools.artifacts import MAX_SERIES
from copilot_admin.agent.values.model_call import (
    Delta,
    Finish,
    ModelCall,
    ModelRole,
    TextDelta,
    ToolCall,
    WebSource,
    WebSources,
    estimated_usage,
)
from copilot_admin.agent.values.spec import ProviderSpec
from protocol.functions import GET_SKILL_CONTENT, GET_WIDGET_DATA
from protocol.json import Json, JsonObject, is_number, json_of, list_of, object_of

MODEL = "demo"
DATA_LABEL = "*Demo answer, computed from your data. No language model was used.*"
NO_ANSWER = "*Demo model: no language model was used.*"
_EXPLANATION = """The built-in demo model has prepared answers only, and describes the data that you \
attach. Connect a model to get real answers. Questions with a prepared answer:"""
_SUGGESTIONS = "Suggest "  # start of the request for suggestions
_CHART_TYPES = ("line", "scatter", "pie", "donut", "bar")
_ARTIFACT_SHOWN = "The user now sees "
_EXCERPT = 300  # characters
_MAX_ROWS = 200
_MAX_COLUMNS = 4  # with numbers that are described
_BLOCK = re.compile(
    r'^<data source=("(?:[^"\\\n]|\\.)*")[^\n]*>\n(.*?)\n</data>', re.MULTILINE | re.DOTALL
)
_PLAUSIBLE: Mapping[str, Json] = {
    "integer": 1,
    "number": 1,
    "boolean": True,
    "array": [],
    "object": {},
}

Row: TypeAlias = Mapping[str, str | int | float | bool | None]
Move: TypeAlias = TextDelta | ToolCall | WebSources


class DemoModel:
    """Deterministic substitute for a model, which exercises all features of a copilot."""

    kind: ClassVar[str] = "demo"
    label: ClassVar[str] = "Demo model (built in, no network)"
    word_seconds: ClassVar[float] = 0.012  # 80 a second, about as fast as a hosted model

    def __init__(self, spec: ProviderSpec) -> None:
        self.spec = spec

    async def stream(self, call: ModelCall) -> AsyncGenerator[Delta, None]:
        """Stream the next message of the script, word by word."""
        written, reason = 0, "stop"
        for move in next_moves(call):
            match move:
                case TextDelta(text):
                    for word in re.findall(r"\s+\S*|\S+", text):
                        await asyncio.sleep(self.word_seconds)
                        yield TextDelta(word)
                    written += len(text)
                case ToolCall():
                    yield move
                    written += len(move.arguments)
                    reason = "tool_calls"
                case _:
                    yield move
        yield estimated_usage(call, written=written)
        yield Finish(reason)

    async def models(self) -> tuple[str, ...]:
        return (MODEL,)


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


class Scene:
    """Input of the demo model: role, last question, data, and tools that it may still use."""

    def __init__(self, call: ModelCall) -> None:
        system = "\n".join(one.text for one in call.messages if one.role is ModelRole.SYSTEM)
        users = [n for n, one in enumerate(call.messages) if one.role is ModelRole.USER]
        turn = call.messages[users[-1] :] if users else ()
        text = turn[0].text if turn else ""
        results = [one.text for one in turn if one.role is ModelRole.TOOL]
        used = {one.name for message in turn for one in message.tool_calls}
        self.role = next(filter(str.strip, system.splitlines()), "")
        self.question = text.partition("\n\n<data ")[0]
        self.earlier_question = call.messages[users[-2]].text if len(users) > 1 else ""
        self.lists = _read_blocks(system)
        self.blocks = [block for one in (text, *results) for block in _read_blocks(one)]
        self.results = [one for one in results if not one.startswith(("<data ", _ARTIFACT_SHOWN))]
        self.has_moved = bool(used)
        self.tools = {tool.name: tool for tool in call.tools if tool.name not in used}

    def listed(self, tool: str, key: str) -> list[JsonObject]:
        """Return the lines with a `key` that the prompt lists for an unused tool."""
        if tool not in self.tools:
            return []
        bodies = (block.body for block in self.lists if tool in block.source)
        found = (object_of(json_of(line)) for body in bodies for line in body.splitlines())
        return [one for one in found if key in one]


def next_moves(call: ModelCall) -> Iterator[Move]:
    """Yield the texts, tool calls and sources of the next model message.

    A skill that the question names is loaded first, then data is fetched. Then a table or a chart
    is made if the question names one and there are rows. Then any other offered tool whose name is
    in the question is called. The answer is last.
    """
    scene = Scene(call)
    number = sum(len(message.tool_calls) for message in call.messages)
    if (wanted := _choose_call(scene)) is not None:
        yield _tool_call(number + 1, *wanted)
    elif scene.blocks or any(scene.results):
        yield TextDelta(_describe_data(scene))
    elif scene.question.startswith(_SUGGESTIONS):
        yield TextDelta(json.dumps(suggest_questions(scene.earlier_question + scene.role)))
    elif (answer := find_demo_answer(scene.question, role=scene.role)) is not None:
        yield from _give_answer(answer, scene, number)
    else:
        yield TextDelta(_explain(scene))


def _choose_call(scene: Scene) -> tuple[str, JsonObject] | None:
    question = scene.question.lower()
    slugs = [str(one["slug"]) for one in scene.listed(GET_SKILL_CONTENT, "slug")]
    named = [one for one in slugs if _text_for_tool(one, question)]
    if found := named or (slugs[:1] if "skill" in question else []):
        return GET_SKILL_CONTENT, {"slug": found[0]}
    widgets = scene.listed(GET_WIDGET_DATA, "id")
    if widgets and not scene.blocks:
        chosen = [one for one in widgets if str(one.get("name", "")).lower() in question]
        chosen = chosen or [one for one in widgets if one.get("selected")] or widgets[:1]
        return GET_WIDGET_DATA, {"widgets": [{"id": one["id"]} for one in chosen]}
    table = next((one for one in scene.blocks if one.rows), None)
    for name, tool in scene.tools.items():
        if name in ("table", "chart"):
            if name in question and table is not None:
                chart = _choose_chart(table.rows, question) if name == "chart" else {}
                about = {"name": table.source or "Data", "description": f"From {table.source}."}
                return name, {**about, "rows": table.rows, **chart}
        elif name not in (GET_WIDGET_DATA, GET_SKILL_CONTENT):
            words = _text_for_tool(name, scene.question)
            if words is not None:
                properties = object_of(tool.parameters.get("properties"))
                required = map(str, list_of(tool.parameters.get("required")))
                return name, {key: _make_value(properties.get(key), words) for key in required}
    return None


def _choose_chart(rows: Sequence[Row], question: str) -> JsonObject:
    kind = next((one for one in _CHART_TYPES if one in question), "bar")
    columns, numbers = list(rows[0]), _numeric_columns(rows)
    label = next((one for one in columns if one not in numbers), columns[0])
    if kind == "scatter" and numbers:
        label = numbers[0]
    values = ([one for one in numbers if one != label] or numbers or columns[:1])[:MAX_SERIES]
    return {"type": kind, "x": label, "y": values[:1] if kind in ("pie", "donut") else values}


def _text_for_tool(tool: str, question: str) -> str | None:
    """Return the text behind a tool's name and a colon, else all; None if it isn't named."""
    name = re.escape(re.sub("[-_ ]", " ", tool.lower())).replace(r"\ ", "[-_ ]")
    pattern = rf"(?<![a-z0-9_]){name}(?![a-z0-9_])(?:\s*:\s*(.+))?"
    found = re.search(pattern, question, re.IGNORECASE | re.DOTALL)
    return (found[1] or question).strip() if found else None


def _make_value(schema: Json, question: str) -> Json:
    if choices := list_of(object_of(schema).get("enum")):
        return choices[0]
    return _PLAUSIBLE.get(str(object_of(schema).get("type")), question)


def _tool_call(number: int, name: str, values: JsonObject) -> ToolCall:
    return ToolCall(id=f"demo{number}", name=name, arguments=json.dumps(values, ensure_ascii=False))


def _give_answer(answer: DemoAnswer, scene: Scene, number: int) -> Iterator[Move]:
    draws = answer.chart is not None and "chart" in scene.tools
    lists = answer.has_table and "table" in scene.tools
    if not scene.has_moved:
        yield TextDelta(f"{LABEL}\n\n{answer.opening}")
        if answer.has_table and not lists:
            yield TextDelta(f"\n\n{answer.markdown_table}")
        if draws:
            chart = {**answer.table_arguments, **(answer.chart or {})}
            yield _tool_call(number + 1, "chart", chart)
        if lists:
            yield _tool_call(number + 2, "table", answer.table_arguments)
        if draws or lists:
            return
    yield TextDelta(f"\n\n{answer.closing}")
    yield WebSources(
        tuple(
            WebSource(url="", title=f"{widget.name} (sample widget)", text=widget.description)
            for widget in answer.widgets
        )
    )


def _explain(scene: Scene) -> str:
    questions = "\n".join(f"- {one}" for one in suggest_questions(scene.role))
    parts = [NO_ANSWER, _EXPLANATION, questions, "A model would get this question:"]
    parts.append(f"> {' '.join(scene.question.split())}")
    if scene.role:
        parts += ["and these instructions:", f"> {' '.join(scene.role.split())}"]
    return "\n\n".join(parts)


def _describe_data(scene: Scene) -> str:
    parts = [DATA_LABEL if scene.blocks else NO_ANSWER]
    parts += map(_describe_block, scene.blocks)
    parts += [f"A tool returned: {text[:_EXCERPT]}" for text in scene.results]
    return "\n\n".join(parts)


def _describe_block(block: DataBlock) -> str:
    rows = block.rows
    if not rows:
        return f"**{block.source}:** {block.body.strip()[:_EXCERPT]}"
    numbers = _numeric_columns(rows)
    label = next((column for column in rows[0] if column not in numbers), "")

    def name(row: Row, column: str) -> str:
        return f"{row[column]:,}" + (f" ({row[label]})" if label else "")

    count = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
    lines = [f"**{block.source}** has {count} and {len(rows[0])} columns."]
    for column in numbers[:_MAX_COLUMNS]:
        found = sorted((row for row in rows if column in row), key=lambda row: row[column] or 0)
        highest, lowest = name(found[-1], column), name(found[0], column)
        lines.append(f"- **{column}:** highest {highest}, lowest {lowest}")
    if not numbers:
        first = ", ".join(f"{key} {value}" for key, value in rows[0].items())
        lines.append(f"- First row: {first[:_EXCERPT]}")
    return "\n".join(lines)


def _numeric_columns(rows: Sequence[Row]) -> list[str]:
    columns = dict.fromkeys(key for row in rows for key in row)
    return [column for column in columns if all(is_number(row.get(column, 0)) for row in rows)]


def _read_blocks(text: str) -> list[DataBlock]:
    """Return the blocks of data in a text; a block without an end doesn't count."""
    found = ((json_of(source), body) for source, body in _BLOCK.findall(text))
    return [DataBlock(name, body) for name, body in found if isinstance(name, str)]


def _cell(value: Json) -> str | int | float | bool | None:
    if isinstance(value, str | int | float) or value is None:
        return value
    return json.dumps(value, ensure_ascii=False)
