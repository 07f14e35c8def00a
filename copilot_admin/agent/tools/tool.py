"""Definition of a tool that runs on the server."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from inspect import Parameter, getdoc, signature
from typing import Any, TypeAlias, get_type_hints
from uuid import UUID

from pydantic import BaseModel, create_model

from copilot_admin.agent.tools.tool_arguments import read_arguments, schema_of
from copilot_admin.agent.values.model_call import ToolCall, ToolSchema
from protocol.events import ArtifactType, Event, MessageArtifact


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Context of a tool call."""

    id: UUID  # of the artifact that this call makes, unique in the chat
    html_sources: tuple[str, ...] = ()  # origins from which images in HTML may be loaded

    def artifact(
        self, type: ArtifactType, *, name: str, description: str, content: Any, **more: Any
    ) -> MessageArtifact:
        return MessageArtifact(
            type=type,
            uuid=str(self.id),
            artifact_name=name,
            description=description,
            content=content,
            **more,
        )


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Text for the model and events for the user; with `failed`, the text is an error."""

    text: str
    events: tuple[Event, ...] = ()
    failed: bool = False


ToolFunction: TypeAlias = Callable[..., Awaitable[ToolResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool with its schema and the type of its arguments."""

    schema: ToolSchema
    arguments: type[BaseModel]
    function: ToolFunction

    async def run(self, call: ToolCall, *, context: ToolContext) -> ToolResult:
        """Run the tool with the arguments from the model; wrong ones are a `ToolMistake`."""
        given = read_arguments(self.arguments, call)
        return await self.function(context, **dict(given))


def tool(function: ToolFunction) -> Tool:
    """Build a tool from a typed async function: name, docstring and annotations are its schema."""
    hints = get_type_hints(function, include_extras=True)
    _, *parameters = signature(function).parameters.values()
    fields: dict[str, Any] = {
        one.name: (hints[one.name], ... if one.default is Parameter.empty else one.default)
        for one in parameters
    }
    name, description = function.__name__, getdoc(function) or ""
    arguments = create_model(name, **fields)
    schema = ToolSchema(name=name, description=description, parameters=schema_of(arguments))
    return Tool(schema=schema, arguments=arguments, function=function)
