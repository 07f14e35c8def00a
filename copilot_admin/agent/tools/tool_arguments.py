"""The arguments of tools: their JSON Schema for the model, and reading what the model wrote."""

from dataclasses import replace
import json
from math import isfinite
import re
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from copilot_admin.agent.toolkits.texts import cut, quoted
from copilot_admin.agent.values.model_call import ToolCall
from copilot_admin.errors import CopilotError
from protocol.json import Json, JsonObject
from protocol.json_schema import self_contained
from protocol.walk import is_deeper

_Model = TypeVar("_Model", bound=BaseModel)
_LONGEST = 10_000  # characters of a mistake: fifty names of the longest, and what is said of them
# A client brings a call back with its result, and what it brings may nest 64 levels, some of which are the request's own.
_MOST_LEVELS = 40
_MOST_DIGITS = 308  # of a whole number; scripts make an infinity of more, which comes back as null


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


class _Unsayable(Exception):
    """A number that clients have no form for."""


def check_for_client(call: ToolCall) -> None:
    """Looks whether a client could read the arguments, and bring them back.

    Raises:
        ToolMistake: They are nested too deep for that, so that the chat could not go on, or hold what
            strict readers of JSON refuse and others change.
    """
    try:
        value: Json = json.loads(
            call.arguments, parse_constant=_no_number, parse_float=_number, parse_int=_whole
        )
        is_too_deep = is_deeper(value, than=_MOST_LEVELS)
        if not is_too_deep:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        is_too_deep = True
    except _Unsayable:
        raise ToolMistake(
            f"The arguments of the tool {quoted(call.name)} have a number that is none to a client: NaN, "
            "infinite, or beyond 1e308. Write another, or a text."
        ) from None
    except UnicodeEncodeError:
        raise ToolMistake(
            f"The arguments of the tool {quoted(call.name)} have half a character, such as \\ud83d "
            "alone. Write whole ones."
        ) from None
    except ValueError:  # whoever reads them says what is wrong
        return
    if is_too_deep:
        raise ToolMistake(
            f"The arguments of the tool {quoted(call.name)} are nested deeper than {_MOST_LEVELS} levels. "
            "Write flatter ones."
        )


def _no_number(constant: str) -> None:
    raise _Unsayable


def _number(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise _Unsayable
    return number


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise _Unsayable
    return int(text)


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
