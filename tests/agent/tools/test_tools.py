"""Every tool keeps the contract; tables and charts are shown as artifacts."""

import asyncio
from inspect import getdoc
import json
from typing import Any
from uuid import UUID

import pytest

from copilot_admin.agent.client.data_wishes import GetWidgetData
from copilot_admin.agent.tools.registry import find_tools, tool_names
from copilot_admin.agent.tools.tool import Tool, ToolContext, ToolResult, tool
from copilot_admin.agent.tools.tool_arguments import ToolMistake, repeatable, schema_of
from copilot_admin.agent.values.model_call import ToolCall
from protocol.events import ArtifactType, MessageArtifact

CONTEXT = ToolContext(id=UUID(int=0xABCDEF << 104))
ROWS: list[dict[str, Any]] = [
    {"name": "a", "value": 1},
    {"name": "b", "value": None},
    {"name": "c"},
]
CHART = {"name": "N", "description": "D", "type": "bar", "rows": ROWS, "x": "name", "y": ["value"]}
ALL = find_tools(tool_names())
SAMPLES = [
    pytest.param(one, sample, id=f"{one.schema.name}-{number}")
    for one in ALL
    for number, sample in enumerate(one.samples, 1)
]
PARAMETERS = {
    "chart": ["name", "description", "type", "rows", "x", "y"],
    "html": ["name", "description", "html"],
    "table": ["name", "description", "rows"],
}


def run(name, arguments):
    (found,) = find_tools((name,))
    return asyncio.run(
        found.run(ToolCall(id="1", name=name, arguments=json.dumps(arguments)), context=CONTEXT)
    )


@pytest.mark.parametrize("one", ALL, ids=tool_names())
class TestEveryTool:
    def test_is_described_to_the_model(self, one: Tool):
        assert one.schema.description == getdoc(one.function)
        assert one.schema.parameters["type"] == "object"
        assert all("description" in row or "enum" in row for row in properties(one).values())
        assert one.samples

    def test_schema_has_no_references_and_no_titles_of_its_own(self, one: Tool):
        text = json.dumps(one.schema.parameters)
        assert "$ref" not in text
        assert '"title":' not in text

    @pytest.mark.parametrize("arguments", ["{", "[]", "null", "7"])
    def test_says_what_is_wrong_with_arguments(self, one: Tool, arguments):
        call = ToolCall(id="1", name=one.schema.name, arguments=arguments)
        with pytest.raises(ToolMistake, match="Wrong arguments for the tool"):
            asyncio.run(one.run(call, context=CONTEXT))


@pytest.mark.parametrize(("one", "sample"), SAMPLES)
class TestEverySample:
    def test_gives_the_model_a_text(self, one: Tool, sample):
        assert run(one.schema.name, sample).text

    def test_is_a_mistake_without_an_argument_that_it_needs(self, one: Tool, sample):
        fields = one.arguments.model_fields
        for missing in (name for name, field in fields.items() if field.is_required()):
            rest = {key: value for key, value in sample.items() if key != missing}
            with pytest.raises(ToolMistake, match=f"Wrong arguments .*{missing}: "):
                run(one.schema.name, rest)


def properties(one):
    return one.schema.parameters["properties"]


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_of_the_tools_are_those_of_the_interface(name):
    (found,) = find_tools((name,))
    assert list(properties(found)) == PARAMETERS[name]


@pytest.mark.parametrize("name", PARAMETERS)
def test_what_a_tool_shows_is_an_artifact(name):
    (found,) = find_tools((name,))
    (artifact,) = run(name, found.samples[0]).events
    assert isinstance(artifact, MessageArtifact)


def test_chart_types_are_listed_for_the_model():
    (chart,) = find_tools(("chart",))
    assert properties(chart)["type"]["enum"] == ["line", "bar", "scatter", "pie", "donut"]


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


def test_unknown_tools_of_a_copilot_are_passed_over_and_doubles_offered_once():
    assert [one.schema.name for one in find_tools(("table", "magic", "table"))] == ["table"]


def test_tool_is_made_of_a_typed_function():
    @tool(samples=[])
    async def greet(context: ToolContext, who: str, loudly: bool = False) -> ToolResult:
        """Greets somebody."""
        return ToolResult(f"{who}{'!' if loudly else '.'}")

    call = ToolCall(id="1", name="greet", arguments='{"who": "Ada", "more": 1}')
    assert asyncio.run(greet.run(call, context=CONTEXT)) == ToolResult("Ada.")
    assert greet.schema.parameters == {
        "type": "object",
        "properties": {"who": {"type": "string"}, "loudly": {"type": "boolean"}},
        "required": ["who"],
    }


def test_parameter_called_title_is_kept_in_the_schema():
    @tool(samples=[])
    async def name(context: ToolContext, title: str, default: str) -> ToolResult:
        """Names a thing."""
        return ToolResult(title + default)

    assert list(properties(name)) == ["title", "default"]
    call = ToolCall(id="1", name="name", arguments='{"title": "a", "default": "b"}')
    assert asyncio.run(name.run(call, context=CONTEXT)).text == "ab"


def test_tool_without_parameters_takes_none():
    @tool(samples=[])
    async def now(context: ToolContext) -> ToolResult:
        """Says the time."""
        return ToolResult("noon")

    assert now.schema.parameters == {"type": "object", "properties": {}}
    assert asyncio.run(
        now.run(ToolCall(id="1", name="now", arguments=""), context=CONTEXT)
    ) == ToolResult("noon")


def test_schema_of_widget_data_is_plain():
    schema = schema_of(GetWidgetData)
    assert schema["required"] == ["widgets"]
    assert "$" not in json.dumps(schema)


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
