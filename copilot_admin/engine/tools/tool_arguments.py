"""The arguments of tools: their JSON Schema for the model, and reading what the model wrote."""

from dataclasses import replace
import json
import re
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from copilot_admin.engine.toolkits.told_names import cut
from copilot_admin.engine.values.model_call import ToolCall
from copilot_admin.errors import CopilotError
from protocol.json import JsonObject
from protocol.json_schema import self_contained

_Model = TypeVar("_Model", bound=BaseModel)
_LONGEST = 10_000  # characters of a mistake: fifty names of the longest, and what is said of them


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
