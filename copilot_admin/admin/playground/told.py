"""What a model was asked, as an event of the playground; Workspace is never sent one."""

from copilot_admin.agent.values.model_call import ModelCall, ModelMessage, ToolCall, ToolSchema
from protocol.json import JsonObject
from protocol.sse import encode

EVENT = "playgroundModelCall"


def told_event(call: ModelCall) -> bytes:
    """A request to a model as a server-sent event: messages, tools with their schemas, parameters."""
    return encode(
        EVENT,
        {
            "model": call.model,
            "messages": [_message(message) for message in call.messages],
            "tools": [_tool(tool) for tool in call.tools],
            "parameters": dict(call.parameters),
        },
    )


def _message(message: ModelMessage) -> JsonObject:
    """A message; what it has not is left out, and of an image only its name is told."""
    return {
        "role": message.role.value,
        "text": message.text,
        **({"tool_call_id": message.tool_call_id} if message.tool_call_id else {}),
        **(
            {"tool_calls": [_call(one) for one in message.tool_calls]} if message.tool_calls else {}
        ),
        **({"images": [one.name for one in message.images]} if message.images else {}),
    }


def _call(call: ToolCall) -> JsonObject:
    return {"id": call.id, "name": call.name, "arguments": call.arguments}


def _tool(tool: ToolSchema) -> JsonObject:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
