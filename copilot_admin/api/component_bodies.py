"""Reads the body of a component's call."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from copilot_admin.errors import InvalidCall, MalformedBody
from copilot_admin.http.body_limit import parse_body
from protocol.components import is_reserved
from protocol.json import Json, JsonObject
from protocol.json_schema import argument_faults, named_faults
from protocol.strict_json import MalformedJson, loads

# Brackets, braces, commas and colons. A table of 20,000 rows and ten columns has as many; to look
# at each of a million values against a manifest takes seconds.
# Each is looked at by its name in the event loop: 200,000 of them held it for 150 ms. A component has a few.
MOST_PARAMETERS = 1000
COPILOT = "_sys_copilot"  # the slug of the copilot that lends its model
_TEXT: Mapping[str, Json] = {"type": "string", "maxLength": 200}
_MESSAGE: JsonObject = {
    "type": "object",
    "required": ["role", "content"],
    "properties": {
        "role": {"type": "string", "enum": ["user", "assistant"]},
        "content": {"type": "string"},
    },
}
# The system inputs that a caller may set, and the copilot; the files are read elsewhere.
_FILES: JsonObject = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["url"],
        "properties": {"filename": {"type": "string"}, "url": {"type": "string"}},
    },
}
SYSTEM_INPUTS: Mapping[str, JsonObject] = {
    "_sys_origin_query": {
        "type": "string",
        "description": "The user's words. They fill in the one required parameter that is missing.",
    },
    "_sys_file_urls": {
        "type": "object",
        "additionalProperties": {"type": "string"},
        "description": "Files by name, each with its address. They are read and passed as text.",
    },
    "_sys_uploaded_files": {**_FILES, "description": "The same as a list."},
    "uploaded_files": {**_FILES, "description": "Another name of `_sys_uploaded_files`."},
    "_sys_conversation_id": {**_TEXT, "description": "Comes back in the answer."},
    "_sys_end_user_id": {**_TEXT, "description": "Comes back in the answer."},
    "_sys_chat_history": {"type": "array", "items": _MESSAGE},
    "_sys_file_names": {"type": "array", "items": {"type": "string"}},
    "_sys_user_instruction": {"type": "string"},
    "_sys_custom_variables": {"type": "object"},
    "model_configs": {
        "type": "object",
        "properties": {"temperature": {"type": "number"}, "top_p": {"type": "number"}},
    },
    COPILOT: {**_TEXT, "description": "The copilot whose model and settings the component gets."},
}
BODY_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "stream": {"type": "boolean", "default": False},
        "parameters": {
            "type": "object",
            "description": "What the manifest names, and system inputs beside it.",
            "properties": dict(SYSTEM_INPUTS),
        },
    },
}


_TEMPERATURES: JsonObject = {"type": "number", "minimum": 0, "maximum": 2}
_OF_RUN: JsonObject = {
    "properties": {"stream": {"type": "boolean"}, "temperature": _TEMPERATURES},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """Request of a caller.

    Attributes:
        parameters: Arguments and system inputs.
        copilot: The slug of the copilot that is named in them, or nothing.
    """

    stream: bool
    parameters: JsonObject
    copilot: str


async def read_body(body: bytes) -> Body:
    """Reads a body; a long one in a thread.

    Raises:
        MalformedBody: It is not valid JSON.
        InvalidCall: It is JSON, but no call.
    """
    return await parse_body(partial(_read, body), size=len(body))


def _read(body: bytes) -> Body:
    try:
        value = loads(body)
    except MalformedJson as error:
        raise MalformedBody(error.public, code=error.code) from error
    if isinstance(value, Mapping):
        value = _without_nulls(value)
    faults = [one.removeprefix("parameters.") for one in named_faults(value, BODY_SCHEMA)]
    if faults or not isinstance(value, Mapping):
        raise InvalidCall(
            'Send {"stream": false, "parameters": {...}}. ' + "; ".join(faults[:3]),
            code="bad-parameters",
        )
    parameters = value.get("parameters", {})
    assert isinstance(parameters, Mapping)  # noqa: S101  # the schema says so
    if len(parameters) > MOST_PARAMETERS:
        raise InvalidCall(
            f"The call has more than {MOST_PARAMETERS:,} parameters. Send those that the manifest names.",
            code="bad-parameters",
        )
    return Body(
        stream=value.get("stream") is True,
        parameters=parameters,
        copilot=str(parameters.get(COPILOT, "")),
    )


def for_run(body: Body, *, parameters: Collection[str]) -> Body:
    """A body for the action `run`, whose own arguments may stand among the parameters.

    Source: `run(message, stream, temperature)` of the component contract.

    Args:
        body: As it came.
        parameters: Of the component, which are its own even where they have such a name.

    Raises:
        InvalidCall: One is of another type.
    """
    own = {
        name: value
        for name, value in body.parameters.items()
        if name in ("stream", "temperature") and name not in parameters and value is not None
    }
    if faults := argument_faults(own, _OF_RUN):
        raise InvalidCall("; ".join(faults), code="bad-parameters")
    others = {
        name: value
        for name, value in body.parameters.items()
        if name in parameters or name not in ("stream", "temperature")
    }
    if "temperature" in own:
        given = others.get("model_configs")
        configs = given if isinstance(given, Mapping) else {}
        others["model_configs"] = {**configs, "temperature": own["temperature"]}
    return replace(body, stream=body.stream or own.get("stream") is True, parameters=others)


def _without_nulls(body: JsonObject) -> JsonObject:
    given = {key: value for key, value in body.items() if value is not None}
    parameters = given.get("parameters")
    if not isinstance(parameters, Mapping):
        return given
    kept = {
        key: value for key, value in parameters.items() if value is not None or not is_reserved(key)
    }
    return {**given, "parameters": kept}
