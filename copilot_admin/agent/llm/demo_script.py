"""Script of the demo model: the tools that it calls, and its answers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
import json
import re
from typing import TypeAlias

from copilot_admin.agent.llm.demo_answers import (
    LABEL,
    DemoAnswer,
    find_demo_answer,
    suggest_questions,
)
from copilot_admin.agent.llm.demo_input import DataBlock, Row, Scene, numeric_columns, read_scene
from copilot_admin.agent.tools.artifacts import MAX_SERIES
from copilot_admin.agent.values.model_call import (
    ModelCall,
    ModelRole,
    TextDelta,
    ToolCall,
    WebSource,
    WebSources,
)
from protocol.functions import GET_SKILL_CONTENT, GET_WIDGET_DATA
from protocol.json import Json, JsonObject, is_number, list_of, object_of

DATA_LABEL = "*Demo answer, computed from your data. No language model was used.*"
NO_ANSWER = "*Demo model: no language model was used.*"
_EXPLANATION = """The built-in demo model has prepared answers only, and describes the data that you \
attach. Connect a model to get real answers. Questions with a prepared answer:"""
SUGGESTIONS = "Suggest "  # start of the request for suggestions
_CHART_TYPES = ("line", "scatter", "pie", "donut", "bar")
_ANY_CASE = re.IGNORECASE | re.DOTALL
_EXCERPT = 300  # characters
_MAX_COLUMNS = 4  # with numbers that are described

Move: TypeAlias = TextDelta | ToolCall | WebSources


def next_moves(call: ModelCall) -> Iterator[Move]:
    """Yield the texts, tool calls and sources of the next model message.

    A skill that the question names is loaded first, then data is fetched. Then a table or a chart
    is made if the question names one and there are rows. Then any other offered tool whose name is
    in the question is called. The answer is last.
    """
    scene = read_scene(call)
    number = sum(len(message.tool_calls) for message in call.messages)
    arguments = _next_arguments(scene)
    if arguments is not None:
        yield _tool_call(number + 1, *arguments)
    elif scene.blocks or any(scene.results):
        yield TextDelta(_describe_blocks(scene))
    elif scene.question.startswith(SUGGESTIONS):
        yield TextDelta(json.dumps(suggest_questions(_last_question(call) + scene.role)))
    elif (answer := find_demo_answer(scene.question, role=scene.role)) is not None:
        yield from _give_answer(answer, scene, number)
    else:
        yield TextDelta(_explain(scene))


def _give_answer(answer: DemoAnswer, scene: Scene, number: int) -> Iterator[Move]:
    draws = answer.chart is not None and scene.may("chart")
    lists = answer.has_table and scene.may("table")
    if not scene.used:
        yield TextDelta(f"{LABEL}\n\n{answer.opening}")
        if answer.has_table and not lists:
            yield TextDelta(f"\n\n{answer.markdown_table}")
        if draws:
            yield _tool_call(number + 1, "chart", answer.chart_arguments)
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
    parts.append(_quote(scene.question))
    if scene.role:
        parts += ["and these instructions:", _quote(scene.role)]
    return "\n\n".join(parts)


def _quote(text: str) -> str:
    return f"> {' '.join(text.split())}"


def _tool_call(number: int, name: str, values: JsonObject) -> ToolCall:
    return ToolCall(id=f"demo{number}", name=name, arguments=json.dumps(values, ensure_ascii=False))


def _last_question(call: ModelCall) -> str:
    users = [one.text for one in call.messages if one.role is ModelRole.USER]
    return users[-2] if len(users) > 1 else ""


def _next_arguments(scene: Scene) -> tuple[str, JsonObject] | None:
    question = scene.question.lower()
    if scene.may(GET_SKILL_CONTENT) and (slug := _wanted_skill(scene)):
        return GET_SKILL_CONTENT, {"slug": slug}
    if scene.may(GET_WIDGET_DATA) and not scene.blocks and (ids := _wanted_ids(scene)):
        return GET_WIDGET_DATA, {"widgets": [{"id": one} for one in ids]}
    rows = next((one for one in scene.blocks if one.rows), None)
    for name, arguments_from in _DRAWN.items():
        if name in question and scene.may(name) and rows is not None:
            return name, arguments_from(rows, question)
    for tool in scene.tools:
        if tool.name not in _BY_OWN_RULES and tool.name not in scene.used:
            words = _text_for_tool(tool.name, scene.question)
            if words is not None:
                return tool.name, _plausible(tool.parameters, words)
    return None


def _describe_blocks(scene: Scene) -> str:
    parts = [DATA_LABEL if scene.blocks else NO_ANSWER]
    parts += map(_describe, scene.blocks)
    parts += [f"A tool returned: {text[:_EXCERPT]}" for text in scene.results]
    return "\n\n".join(parts)


def _describe(given: DataBlock) -> str:
    rows = given.rows
    if not rows:
        return f"**{given.source}:** {given.body.strip()[:_EXCERPT]}"
    numbers = numeric_columns(rows)
    label = next((column for column in rows[0] if column not in numbers), "")
    count = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
    lines = [f"**{given.source}** has {count} and {len(rows[0])} columns."]
    lines += [_describe_column(column, rows, label) for column in numbers[:_MAX_COLUMNS]]
    if not numbers:
        first = ", ".join(f"{key} {value}" for key, value in rows[0].items())
        lines.append(f"- First row: {first[:_EXCERPT]}")
    return "\n".join(lines)


def _describe_column(column: str, rows: Sequence[Row], label: str) -> str:
    found = [row for row in rows if is_number(row.get(column))]
    if not found:
        return f"- **{column}:** no numbers"
    highest = max(found, key=lambda row: float(row[column] or 0))
    lowest = min(found, key=lambda row: float(row[column] or 0))

    def name(row: Row) -> str:
        return f"{row[column]:,}" + (f" ({row[label]})" if label else "")

    if len(found) == 1:
        return f"- **{column}:** {name(highest)}"
    return f"- **{column}:** highest {name(highest)}, lowest {name(lowest)}"


def _table(given: DataBlock, question: str) -> JsonObject:
    return {
        "name": given.source or "Data",
        "description": f"The rows of {given.source}.",
        "rows": given.rows,
    }


def _chart(given: DataBlock, question: str) -> JsonObject:
    kind = next((one for one in _CHART_TYPES if one in question), "bar")
    columns = list(given.rows[0])
    numbers = numeric_columns(given.rows)
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


_DRAWN: Mapping[str, Callable[[DataBlock, str], JsonObject]] = {"table": _table, "chart": _chart}
_BY_OWN_RULES = frozenset({*_DRAWN, GET_WIDGET_DATA, GET_SKILL_CONTENT})


def _wanted_skill(scene: Scene) -> str:
    slugs = [str(one["slug"]) for one in scene.skills]
    named = (one for one in slugs if _text_for_tool(one.replace("-", "_"), scene.question))
    first = slugs[0] if slugs and "skill" in scene.question.lower() else ""
    return next(named, first)


def _wanted_ids(scene: Scene) -> list[Json]:
    question = scene.question.lower()
    named = [one for one in scene.widgets if str(one.get("name", "")).lower() in question]
    selected = [one for one in scene.widgets if one.get("selected")]
    return [one["id"] for one in named or selected or scene.widgets[:1]]


def _text_for_tool(tool: str, question: str) -> str | None:
    """Return the part of the question for a tool: the text behind its name and a colon, else all.

    Returns:
        None if the question does not name the tool.
    """
    name = re.escape(tool.lower()).replace("_", "[-_ ]")
    found = re.search(rf"(?<![a-z0-9_]){name}(?![a-z0-9_])(?:\s*:\s*(.+))?", question, _ANY_CASE)
    if found is None:
        return None
    return (found[1] or question).strip()


def _plausible(schema: Mapping[str, Json], question: str) -> JsonObject:
    properties, required = object_of(schema.get("properties")), list_of(schema.get("required"))
    return {str(name): _value(properties.get(str(name)), question) for name in required}


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
