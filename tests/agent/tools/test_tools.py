"""Every tool keeps the contract; tables and charts are shown as artifacts."""

import asyncio
from inspect import getdoc
import json
from typing import Any
from uuid import UUID

import pytest

from copilot_admin.agent.tools.registry import find_tools, tool_names
from copilot_admin.agent.tools.tool import Tool, ToolContext, ToolMistake, ToolResult, repeatable
from copilot_admin.agent.values.model_call import ToolCall
from protocol.events import MessageArtifact

CONTEXT = ToolContext(id=UUID(int=0xABCDEF << 104))
TABLE: dict[str, Any] = {
    "name": "Prices",
    "description": "By day.",
    "rows": [{"day": "Mon", "price": 1}],
}
SAMPLES: dict[str, dict[str, Any]] = {
    "chart": {**TABLE, "type": "bar", "x": "day", "y": ["price"]},
    "html": {"name": "Card", "description": "One figure.", "html": "<p>4.5 %</p>"},
    "table": TABLE,
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
    assert set(schema["properties"]) == set(SAMPLES[one.schema.name])
    assert all("description" in row or "enum" in row for row in schema["properties"].values())
    assert not {"$ref", '"title":'} & {*json.dumps(schema).split()}


@every
def test_a_sample_shows_an_artifact_and_needs_its_arguments(one: Tool):
    sample = SAMPLES[one.schema.name]
    result = run(one.schema.name, sample)
    assert result.text
    assert [type(event) for event in result.events] == [MessageArtifact]
    required: Any = one.schema.parameters["required"]
    for missing in required:
        rest = {key: value for key, value in sample.items() if key != missing}
        with pytest.raises(ToolMistake, match=f"Wrong arguments .*{missing}: "):
            run(one.schema.name, rest)


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
