"""Finds the tools that run on the server: every module of this folder that declares one.

A tool is one typed `async def` under `@tool(samples=...)`. Its name, docstring and annotations
become what the model is offered; its first parameter is the `ToolContext`, the others are what the
model fills in.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from inspect import Parameter, getdoc, signature
from pkgutil import iter_modules
from typing import Any, Concatenate, ParamSpec, TypeAlias, get_type_hints
from uuid import UUID

from pydantic import BaseModel, ConfigDict, create_model

from copilot_admin.agent import tools
from copilot_admin.agent.beside import beside_if, is_long
from copilot_admin.agent.tools.tool_arguments import read_arguments, schema_of
from copilot_admin.agent.values.model_call import ToolCall, ToolSchema
from protocol.events import ArtifactType, Event, MessageArtifact
from protocol.json import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a tool knows besides its arguments.

    Attributes:
        id: A uuid for what this call makes, unique in the chat; names are made so as they leave.
        html_sources: Origins from which images in HTML may be loaded.
    """

    id: UUID
    html_sources: tuple[str, ...] = ()

    def artifact(
        self, type: ArtifactType, *, name: str, description: str, content: Any, **more: Any
    ) -> MessageArtifact:
        """What this call shows the user."""
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
    """What a tool says to the model, and what it shows to the user.

    Attributes:
        failed: The text says what went wrong.
    """

    text: str
    events: tuple[Event, ...] = ()
    failed: bool = False


_P = ParamSpec("_P")
ToolFunction: TypeAlias = Callable[..., Awaitable[ToolResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool as the engine runs it.

    Attributes:
        samples: Arguments that work; the contract is checked with them.
    """

    schema: ToolSchema
    arguments: type[BaseModel]
    function: ToolFunction
    samples: Sequence[JsonObject]

    async def run(self, call: ToolCall, *, context: ToolContext) -> ToolResult:
        """Runs the tool with the arguments that the model wrote.

        Raises:
            ToolMistake: The arguments are wrong; the text tells the model what would be right.
        """
        given = await beside_if(is_long(call), partial(read_arguments, self.arguments, call))
        values = {name: getattr(given, name) for name in self.arguments.model_fields}
        return await self.function(context, **values)


def tool(
    *, samples: Sequence[JsonObject]
) -> Callable[[Callable[Concatenate[ToolContext, _P], Awaitable[ToolResult]]], Tool]:
    """Makes a tool of a typed async function with a docstring.

    Args:
        samples: Arguments that work, the fewest first.
    """

    def made(function: Callable[Concatenate[ToolContext, _P], Awaitable[ToolResult]]) -> Tool:
        arguments = _arguments_model(function)
        schema = ToolSchema(
            name=function.__name__,
            description=getdoc(function) or "",
            parameters=schema_of(arguments),
        )
        return Tool(schema=schema, arguments=arguments, function=function, samples=samples)

    return made


def tool_names() -> tuple[str, ...]:
    """The names of all tools, in alphabetical order."""
    return tuple(sorted(_tools()))


def find_tools(names: tuple[str, ...]) -> tuple[Tool, ...]:
    """The tools with these names; a name that no longer exists is passed over."""
    known = _tools()
    return tuple(known[name] for name in dict.fromkeys(names) if name in known)


@cache
def _tools() -> Mapping[str, Tool]:
    modules = (
        import_module(f"{tools.__name__}.{module.name}") for module in iter_modules(tools.__path__)
    )
    found = (value for module in modules for value in vars(module).values())
    return {value.schema.name: value for value in found if isinstance(value, Tool)}


def _arguments_model(function: Callable[..., object]) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    _, *parameters = signature(function).parameters.values()
    fields: dict[str, Any] = {
        parameter.name: (
            hints[parameter.name],
            ... if parameter.default is Parameter.empty else parameter.default,
        )
        for parameter in parameters
    }
    return create_model(function.__name__, __config__=ConfigDict(extra="ignore"), **fields)
