"""Request of a chat completion, written while it is sent."""

import json

import orjson

from copilot_admin.agent.llm.model_choice import RESERVED_PARAMETERS
from copilot_admin.agent.values.model_call import ModelCall, ModelMessage, ModelRole
from protocol.json import Json, JsonObject


def request_body(call: ModelCall, *, with_usage: bool) -> bytes:
    """The JSON of a streaming request; `with_usage` asks for the tokens at its end."""
    body = _request(call, with_usage=with_usage)
    try:
        return orjson.dumps(body)
    except TypeError:  # half characters, and numbers beyond 64 bits
        return json.dumps(body).encode()


def _request(call: ModelCall, *, with_usage: bool) -> JsonObject:
    body: dict[str, Json] = {
        key: one for key, one in call.parameters.items() if key not in RESERVED_PARAMETERS
    }
    body["model"] = call.model
    if call.user:
        body["user"] = call.user
    body["messages"] = [_message(message) for message in call.messages]
    if call.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in call.tools
        ]
    body["stream"] = True
    if with_usage:
        body["stream_options"] = {"include_usage": True}
    return body


def _message(message: ModelMessage) -> JsonObject:
    said: dict[str, Json] = {"role": message.role.value, "content": _content(message)}
    if message.tool_calls:
        said["content"] = message.text or None
        said["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments or "{}"},
            }
            for call in message.tool_calls
        ]
    if message.role is ModelRole.TOOL:
        said["tool_call_id"] = message.tool_call_id
    return said


def _content(message: ModelMessage) -> Json:
    if not message.images:
        return message.text
    parts: list[Json] = [_text(message.text)] if message.text else []
    for image in message.images:
        parts += (
            _text(f"<data image={json.dumps(image.name, ensure_ascii=False)}>"),
            {"type": "image_url", "image_url": {"url": image.url}},
            _text("</data>"),
        )
    return parts


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
