"""Tools that run on the server, the arguments of all tools, and mistakes of the model in them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from inspect import Parameter, getdoc, signature
import json
import re
from typing import Any, TypeAlias, TypeVar, get_type_hints
from uuid import UUID

import orjson
from pydantic import BaseModel, ValidationError, create_model

from copilot_admin.agent.text import quote, truncate
from copilot_admin.agent.values.model_call import ToolCall, ToolSchema
from copilot_admin.errors import CopilotError
from protocol.events import Event
from protocol.json import JsonObject, is_deeper
from protocol.json_schema import self_contained

MAX_MISTAKES = 2  # a model that repeats a mistake after it was explained will repeat it again
MAX_NAME = 64  # characters of a tool's name that every vendor accepts
MAX_LEVELS = 40  # a client returns a call in a request, which may nest 64 levels in all
_MAX_MESSAGE = 10_000  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    id: UUID  # of the artifact that this call makes, unique in the chat
    html_sources: tuple[str, ...] = ()  # origins from which images in HTML may be loaded


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Text for the model and events for the user; with `failed`, the text is an error."""

    text: str
    events: tuple[Event, ...] = ()
    failed: bool = False


ToolFunction: TypeAlias = Callable[..., Awaitable[ToolResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
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


_Model = TypeVar("_Model", bound=BaseModel)


class ToolMistake(CopilotError):
    """An invalid tool call. The text describes a valid one to the model."""

    def __init__(self, public: str) -> None:
        super().__init__(truncate(public, _MAX_MESSAGE))


class Mistakes:
    """Counts the rounds in which a model used its tools wrongly."""

    def __init__(self) -> None:
        self._first = ""  # of this round
        self._rounds = 0

    @property
    def too_many(self) -> bool:
        return self._rounds >= MAX_MISTAKES

    def learn(self, mistake: ToolMistake) -> str:
        """Record a mistake of this round and return its text for the model."""
        self._first = self._first or mistake.public
        return mistake.public

    def end_round(self) -> str:
        """End the round and return a warning for the user, or an empty text."""
        first, self._first = self._first, ""
        self._rounds += bool(first)
        if not first or self._rounds != MAX_MISTAKES:
            return ""
        return (
            "The model used its tools wrongly more than once, so it answers without them. "
            f"The last problem: {first}"
        )


def schema_of(model: type[BaseModel]) -> JsonObject:
    """Return the JSON Schema of a tool's parameters, without references."""
    return {"type": "object", "properties": {}, **self_contained(model.model_json_schema())}


def read_arguments(model: type[_Model], call: ToolCall) -> _Model:
    """Parse the JSON of the model as the arguments of a tool.

    Raises:
        ToolMistake: The text isn't JSON or doesn't fit the schema.
    """
    try:
        return model.model_validate_json(call.arguments or "{}")
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(truncate(str(part)) for part in first["loc"])
        what = f"{where}: {first['msg']}" if where else first["msg"]
        raise ToolMistake(f"Wrong arguments for the tool {call.name!r}: {what}.") from error


def check_for_client(call: ToolCall) -> None:
    """Check that a client can read the arguments and send them back.

    Raises:
        ToolMistake: They are nested too deeply, or contain values that strict JSON readers reject.
    """
    problem = ""
    try:
        if is_deeper(orjson.loads(call.arguments or "{}"), than=MAX_LEVELS):
            problem = f"nested deeper than {MAX_LEVELS} levels. Write flatter ones"
    except orjson.JSONDecodeError as error:
        problem = f"not strict JSON: {error}"
    if problem:
        raise ToolMistake(f"The arguments of the tool {quote(call.name)} are {problem}.")


def repeatable(call: ToolCall) -> ToolCall:
    """Return the call in a form that servers accept in a conversation: valid name, valid JSON."""
    try:
        is_object = isinstance(json.loads(call.arguments), dict)
    except (ValueError, RecursionError):
        is_object = False
    return replace(call, name=tool_name(call.name), arguments=call.arguments if is_object else "{}")


def tool_name(name: str) -> str:
    """Return the name with only the characters that every server accepts."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:MAX_NAME] or "unknown"
