"""The words in a span, where an operator asks for them: JSON in the form of the conventions.

Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
"""

from collections.abc import Iterable, Mapping
import json

from copilot_admin.agent.values.model_call import ModelMessage, ModelRole, ToolCall
from copilot_admin.agent.values.witness import ModelAsked, ToolRan
from copilot_admin.telemetry.ended_run import ClientCall
from protocol.json import Json, JsonObject

MOST_CHARACTERS = 64 * 1024  # of one attribute: a collector takes a few MB at once


def of_model(fact: ModelAsked) -> Mapping[str, str]:
    """What a model was told and what it said; images are left out."""
    messages = fact.call.messages
    system = [message for message in messages if message.role is ModelRole.SYSTEM]
    rest = [message for message in messages if message.role is not ModelRole.SYSTEM]
    said: JsonObject = {
        "role": "assistant",
        "parts": [*_text(fact.text), *map(_call_part, fact.tool_calls)],
        "finish_reason": fact.finish or "",
    }
    instructions = [part for message in system for part in _text(message.text)]
    return {
        "gen_ai.system_instructions": _json(instructions),
        "gen_ai.input.messages": _json([_message(message) for message in rest]),
        "gen_ai.output.messages": _json([said]),
    }


def of_tool(fact: ToolRan) -> Mapping[str, str]:
    """What a tool was told and what it gave."""
    return {
        "gen_ai.tool.call.arguments": fact.call.arguments[:MOST_CHARACTERS],
        "gen_ai.tool.call.result": fact.result[:MOST_CHARACTERS],
    }


def of_client_call(call: ClientCall) -> Mapping[str, str]:
    """What the client is asked to do."""
    return {"gen_ai.tool.call.arguments": _json(call.arguments)}


def _message(message: ModelMessage) -> JsonObject:
    if message.role is ModelRole.TOOL:
        part: JsonObject = {
            "type": "tool_call_response",
            "id": message.tool_call_id,
            "response": message.text,
        }
        return {"role": message.role.value, "parts": [part]}
    parts = [*_text(message.text), *map(_call_part, message.tool_calls)]
    return {"role": message.role.value, "parts": parts}


def _text(text: str) -> Iterable[JsonObject]:
    return ({"type": "text", "content": text},) if text else ()


def _call_part(call: ToolCall) -> JsonObject:
    return {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments}


def _json(value: Json) -> str:
    return json.dumps(value)[:MOST_CHARACTERS]
