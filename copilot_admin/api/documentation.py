"""What the OpenAPI document says about the query endpoint, whose body is read by hand."""

from typing import Any

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
