"""What a model was asked, as an event of the playground; Workspace is never sent one."""

from copilot_admin.engine.values.model_call import ModelCall, ModelMessage
from protocol.json import Json
from protocol.sse import encode

EVENT = "playgroundModelCall"


def told_event(call: ModelCall) -> bytes:
    """A request to a model as a server-sent event: messages, names of tools, parameters."""
    return encode(
        EVENT,
        {
            "model": call.model,
            "messages": [_message(message) for message in call.messages],
            "tools": [tool.name for tool in call.tools],
            "parameters": dict(call.parameters),
        },
    )


def _message(message: ModelMessage) -> Json:
    calls: list[Json] = [f"{call.name}({call.arguments})" for call in message.tool_calls]
    images: list[Json] = [image.name for image in message.images]
    return {"role": message.role.value, "text": message.text, "calls": calls, "images": images}
