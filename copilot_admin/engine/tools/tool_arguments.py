"""The arguments of tools: their JSON Schema for the model, and reading what the model wrote."""

from dataclasses import replace
import json
import re
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from copilot_admin.engine.toolkits.told_names import cut, quoted
from copilot_admin.engine.values.model_call import ToolCall
from copilot_admin.errors import CopilotError
from protocol.json import JsonObject
from protocol.json_schema import self_contained
from protocol.walk import is_deeper

_Model = TypeVar("_Model", bound=BaseModel)
_LONGEST = 10_000  # characters of a mistake: fifty names of the longest, and what is said of them
# A client brings a call back with its result, and what it brings may nest 64 levels, some of which are the request's own.
_MOST_LEVELS = 40


class ToolMistake(CopilotError):
    """The model used a tool wrongly; the text tells the model what would be right.

    It may name what the model wrote, and is as long as a model, or a reader, may be told.
    """

    def __init__(self, public: str) -> None:
        super().__init__(public if len(public) <= _LONGEST else f"{public[:_LONGEST]}…")


def schema_of(model: type[BaseModel]) -> JsonObject:
    """The JSON Schema of a tool's parameters, without references and without noise."""
    return {"type": "object", "properties": {}, **self_contained(model.model_json_schema())}


def read_arguments(model: type[_Model], call: ToolCall) -> _Model:
    """Reads the JSON text that the model wrote as the arguments of a tool.

    Raises:
        ToolMistake: It is not JSON, or not what the schema says.
    """
    try:
        return model.model_validate_json(call.arguments or "{}")
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(cut(str(part)) for part in first["loc"])
        what = f"{where}: {first['msg']}" if where else first["msg"]
        raise ToolMistake(f"Wrong arguments for the tool {call.name!r}: {what}.") from error


def check_depth(call: ToolCall) -> None:
    """Looks whether the arguments could come back from a client.

    Raises:
        ToolMistake: They are nested too deep for that: the chat could not go on.
    """
    if call.arguments.count("[") + call.arguments.count("{") <= _MOST_LEVELS:
        return
    try:
        is_too_deep = is_deeper(json.loads(call.arguments), than=_MOST_LEVELS)
    except RecursionError:
        is_too_deep = True
    except ValueError:  # whoever reads them says what is wrong
        return
    if is_too_deep:
        raise ToolMistake(
            f"The arguments of the tool {quoted(call.name)} are nested deeper than {_MOST_LEVELS} levels. "
            "Write flatter ones."
        )


def repeatable(call: ToolCall) -> ToolCall:
    """The call as it may stand in a conversation: servers refuse odd names and broken JSON."""
    try:
        whole = isinstance(json.loads(call.arguments), dict)
    except (ValueError, RecursionError):
        whole = False
    arguments = call.arguments if whole else "{}"
    return replace(call, name=tool_name(call.name), arguments=arguments)


def tool_name(name: str) -> str:
    """The name with nothing in it but what every server accepts."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "unknown"
