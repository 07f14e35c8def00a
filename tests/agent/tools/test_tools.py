"""Every tool keeps the contract; tables and charts are shown as artifacts."""

import asyncio
from inspect import getdoc
import json
from typing import Any
from uuid import UUID

import pytest

from copilot_admin.agent.tools.registry import find_tools, tool_names
from copilot_admin.agent.tools.tool import Tool, ToolContext, ToolResult, tool
from copilot_admin.agent.tools.tool_arguments import ToolMistake, repeatable
from copilot_admin.agent.values.model_call import ToolCall
from protocol.events import ArtifactType, MessageArtifact

CONTEXT = ToolContext(id=UUID(int=0xABCDEF << 104))
ROWS: list[dict[str, Any]] = [
    {"name": "a", "value": 1},
    {"name": "b", "value": None},
    {"name": "c"},
]
CHART = {"name": "N", "description": "D", "type": "bar", "rows": ROWS, "x": "name", "y": ["value"]}
PARAMETERS = {
    "chart": ["name", "description", "type", "rows", "x", "y"],
    "html": ["name", "description", "html"],
    "table": ["name", "description", "rows"],
}
every = pytest.mark.parametrize("one", find_tools(tool_names()), ids=tool_names())


def run(name: str, arguments: Any) -> ToolResult:
    (found,) = find_tools((name,))
    call = ToolCall(id="1", name=name, arguments=json.dumps(arguments))
    return asyncio.run(found.run(call, context=CONTEXT))


@every
def test_a_tool_is_described_to_the_model(one: Tool):
    schema: Any = one.schema.parameters
    assert one.schema.description == getdoc(one.function)
    assert list(schema["properties"]) == PARAMETERS[one.schema.name]
    assert all("description" in row or "enum" in row for row in schema["properties"].values())
    assert not {"$ref", '"title":'} & {*json.dumps(schema).split()}


@every
def test_a_sample_shows_an_artifact_and_needs_its_arguments(one: Tool):
    assert one.samples
    for sample in one.samples:
        result = run(one.schema.name, sample)
        assert result.text
        assert [type(event) for event in result.events] == [MessageArtifact]
        required = [
            name for name, field in one.arguments.model_fields.items() if field.is_required()
        ]
        for missing in required:
            rest = {key: value for key, value in sample.items() if key != missing}
            with pytest.raises(ToolMistake, match=f"Wrong arguments .*{missing}: "):
                run(one.schema.name, rest)


@every
@pytest.mark.parametrize("arguments", ["{", "[]", "null", "7"])
def test_arguments_that_are_not_an_object_are_a_mistake(one: Tool, arguments):
    call = ToolCall(id="1", name=one.schema.name, arguments=arguments)
    with pytest.raises(ToolMistake, match="Wrong arguments for the tool"):
        asyncio.run(one.run(call, context=CONTEXT))


@pytest.mark.parametrize(("kind", "x"), [("line", "name"), ("bar", "name"), ("scatter", "value")])
def test_chart_with_axes(kind, x):
    (artifact,) = run("chart", {**CHART, "type": kind, "x": x}).events
    assert artifact == MessageArtifact(
        type=ArtifactType.CHART,
        uuid=str(CONTEXT.id),
        artifact_name="N",
        description="D",
        content=ROWS,
        chart_params={"chartType": kind, "xKey": x, "yKey": ["value"]},
    )


@pytest.mark.parametrize("kind", ["pie", "donut"])
def test_round_chart(kind):
    (artifact,) = run("chart", {**CHART, "type": kind}).events
    assert isinstance(artifact, MessageArtifact)
    assert artifact.chart_params == {
        "chartType": kind,
        "angleKey": "value",
        "calloutLabelKey": "name",
    }


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"x": "day"}, "The rows have no column 'day'. Their columns: name, value."),
        ({"y": ["close"]}, "The rows have no column 'close'. Their columns: name, value."),
        ({"y": ["name"]}, "The column 'name' has text in it; y takes numbers only."),
        (
            {"type": "scatter"},
            "The column 'name' has text in it; x of a scatter chart takes numbers only. Name another "
            "x, or draw a line or bar chart.",
        ),
        (
            {"type": "pie", "y": ["value", "value"]},
            "A pie chart has exactly one column in y, not 2.",
        ),
        (
            {"y": ["value"] * 21},
            "Wrong arguments for the tool 'chart': y: List should have at most 20 items after "
            "validation, not 21.",
        ),
    ],
)
def test_chart_that_cannot_be_drawn_is_explained_to_the_model(changes, sentence):
    with pytest.raises(ToolMistake) as caught:
        run("chart", {**CHART, **changes})
    assert caught.value.public == sentence


def test_a_tool_is_made_of_a_typed_function():
    @tool(samples=[])
    async def greet(context: ToolContext, title: str, loudly: bool = False) -> ToolResult:
        """Greets somebody."""
        return ToolResult(f"{title}{'!' if loudly else '.'}")

    call = ToolCall(id="1", name="greet", arguments='{"title": "Ada", "more": 1}')
    assert asyncio.run(greet.run(call, context=CONTEXT)) == ToolResult("Ada.")
    assert greet.schema.description == "Greets somebody."
    assert greet.schema.parameters == {
        "type": "object",
        "properties": {"title": {"type": "string"}, "loudly": {"type": "boolean"}},
        "required": ["title"],
    }


@pytest.mark.parametrize(
    ("name", "arguments", "repeated"),
    [
        ("table", '{"a": 1}', ("table", '{"a": 1}')),
        ("my tool", "[1]", ("my_tool", "{}")),
        ("", "{", ("unknown", "{}")),
        ("x", "[" * 100_000, ("x", "{}")),
    ],
)
def test_odd_calls_are_repeated_in_a_form_that_servers_accept(name, arguments, repeated):
    call = repeatable(ToolCall(id="1", name=name, arguments=arguments))
    assert (call.name, call.arguments) == repeated
