"""OpenAPI documentation of endpoints that parse their bodies themselves."""

from collections.abc import Mapping, Sequence
from typing import Any

from copilot_admin.api.component_bodies import BODY_SCHEMA

QUERY_DOCUMENTATION: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": (
            "The whole conversation, as OpenBB Workspace sends it; every protocol generation is "
            "understood. The last message is the question, or the result of a function call."
        ),
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["messages"],
                    "properties": {
                        "messages": {
                            "type": "array",
                            "minItems": 1,
                            "description": (
                                "The chat. A Data message may stand among the others: {type: data,"
                                " kind, data, schema, description}, each part but one may be left"
                                " out."
                            ),
                            "items": {
                                "type": "object",
                                "properties": {
                                    "role": {"type": "string", "enum": ["human", "ai", "tool"]},
                                    "content": {"type": "string"},
                                },
                            },
                        },
                        "widgets": {"type": "object"},
                        "context": {"type": "array", "items": {"type": "object"}},
                        "urls": {"type": "array", "items": {"type": "string"}},
                        "workspace_options": {"type": "object"},
                        "timezone": {"type": "string"},
                        "model": {"type": "string"},
                    },
                },
                "example": {"messages": [{"role": "human", "content": "What moved today?"}]},
            }
        },
    },
    "responses": {
        200: {
            "description": "The answer as server-sent events, in the caller's generation.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        400: {"description": "The body is not strict JSON."},
        401: {"description": "The endpoint key is missing, unknown, expired or revoked."},
        403: {"description": "The key may not ask this copilot."},
        404: {"description": "No published copilot has this slug."},
        413: {"description": "The body is too large."},
        415: {"description": "The body is compressed (`Content-Encoding`)."},
        422: {"description": "The body is JSON, but not a query."},
        429: {"description": "Too many wrong endpoint keys came from this address in a minute."},
        503: {"description": "The server is restarting or cannot store the run."},
    },
}


SECURITY_SCHEMES: Mapping[str, Any] = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An endpoint key."},
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same."},
}
_SECURITY: Sequence[Mapping[str, Any]] = [{"bearer": []}, {"key": []}]
_ERROR = {
    "type": "object",
    "required": ["request_id", "code", "message"],
    "properties": {
        "request_id": {"type": "string"},
        "code": {"type": "string"},
        "message": {"type": "string", "description": "What is wrong, and what to do."},
    },
}
_MANIFESTS = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["name", "description", "parameters"],
        "properties": {
            "name": {"type": "string"},
            "description": {"type": "string"},
            "parameters": {"type": "object", "description": "A JSON Schema."},
        },
    },
}
_COMPONENT = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "version": {"type": "string"},
        "description": {"type": "string"},
        "manifests": _MANIFESTS,
    },
}
_ENTRY = {
    "type": "object",
    "properties": {
        **_COMPONENT["properties"],  # type: ignore[dict-item]  # a mapping, as it stands above
        "versions": {"type": "array", "items": {"type": "string"}},
    },
}
_ELEMENT = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "type": {"type": "string", "description": "Decides the keys of `text`."},
        "text": {"type": "object"},
        "visible_scope": {"type": "string", "enum": ["all", "llm", "user"]},
        "raw_data": {"type": "object"},
        "usage": {"type": "object"},
        "metrics": {"type": "object"},
        "event": {
            "type": "object",
            "required": ["id", "status", "name", "created_time"],
            "properties": {
                "id": {"type": "string"},
                "status": {"type": "string", "enum": ["running", "done"]},
                "name": {"type": "string"},
                "created_time": {"type": "string", "format": "date-time"},
            },
        },
    },
}
_ANSWER = {
    "type": "object",
    "properties": {
        "request_id": {"type": "string"},
        "conversation_id": {"type": "string"},
        "message_id": {"type": "string", "format": "uuid"},
        "trace_id": {"type": "string"},
        "user_id": {"type": "string"},
        "end_user_id": {"type": "string"},
        "is_completion": {"type": "boolean"},
        "status": {"type": "string", "enum": ["running", "done", "error"]},
        "role": {"type": "string", "enum": ["tool", "assistant", "user"]},
        "content": {"type": "array", "items": _ELEMENT},
        "code": {"type": "string", "description": "In a stream that failed."},
        "message": {"type": "string", "description": "In a stream that failed."},
    },
}


def _json(description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


_NO_KEY = _json("The endpoint key is missing, unknown, expired or revoked.", _ERROR)
_NOT_YOURS = _json("The key is for copilots that do not have this component.", _ERROR)
_NOT_FOUND = _json("There is no such component, version or copilot.", _ERROR)
_WRONG_METHOD = _json("The address does not take this method.", _ERROR)

CATALOGUE_DOCUMENTATION: dict[str, Any] = {
    "security": _SECURITY,
    "responses": {
        200: _json("The components.", {"type": "array", "items": _ENTRY}),
        401: _NO_KEY,
        405: _WRONG_METHOD,
    },
}
MANIFEST_DOCUMENTATION: dict[str, Any] = {
    "security": _SECURITY,
    "responses": {
        200: _json("The component.", _COMPONENT),
        401: _NO_KEY,
        403: _NOT_YOURS,
        404: _NOT_FOUND,
        405: _WRONG_METHOD,
    },
}
CALL_DOCUMENTATION: dict[str, Any] = {
    "security": _SECURITY,
    "requestBody": {
        "required": True,
        "description": (
            "The arguments that the manifest names, with system inputs at the same level. "
            "`?action=manifest` needs no body."
        ),
        "content": {
            "application/json": {
                "schema": BODY_SCHEMA,
                "example": {"stream": False, "parameters": {"expression": "2 + 2"}},
            }
        },
    },
    "responses": {
        200: {
            "description": "The merged result; with `stream` an event for each part of it.",
            "content": {
                "application/json": {"schema": _ANSWER},
                "text/event-stream": {"schema": {"type": "string"}},
            },
        },
        400: _json(
            "The body is no call, the action is unknown, the arguments are not those of the "
            "manifest, or a file cannot be read.",
            _ERROR,
        ),
        401: _NO_KEY,
        403: _NOT_YOURS,
        404: _NOT_FOUND,
        405: _WRONG_METHOD,
        413: _json("The body is too large.", _ERROR),
        415: _json("The body is compressed (`Content-Encoding`).", _ERROR),
        429: _json("Too many calls are running. `Retry-After` says when to call again.", _ERROR),
        500: _json("The component broke down before it gave anything.", _ERROR),
        503: _json("The server is restarting or cannot reach its records.", _ERROR),
    },
}
