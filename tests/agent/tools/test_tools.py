"""Every tool keeps the contract; tables and charts are shown as artifacts."""

import asyncio
from inspect import getdoc
import json
from typing import Any
from uuid import UUID

import pytest

from copilot_admin.agent.tools.registry import find_tools, tool_names
from copilot_admin.agent.tools.tool import Tool, ToolContext, ToolResult
from copilot_admin.agent.tools.tool_arguments import ToolMistake, repeatable
from copilot_admin.agent.values.model_call import ToolCall
from protocol.events import MessageArtifact

CONTEXT = ToolContext(id=UUID(int=0xABCDEF << 104))
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
        fields = one.arguments.model_fields.items()
        for missing in (name for name, field in fields if field.is_required()):
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
