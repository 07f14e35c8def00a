"""Bytes of chat completions as servers write them, and what an answer parser makes of them."""

import json

from copilot_admin.agent.llm.stream_parser import AnswerParser
from copilot_admin.agent.values.model_call import (
    ModelCall,
    ModelMessage,
    ModelRole,
    ReasoningDelta,
    TextDelta,
    ToolSchema,
)

TOOLS = (
    ToolSchema(
        name="calculator",
        description="Calculates.",
        parameters={
            "type": "object",
            "properties": {"expression": {"type": "string"}, "places": {"type": "integer"}},
        },
    ),
    ToolSchema(name="table", description="Shows rows.", parameters={"type": "object"}),
    ToolSchema(name="get_widget_data", description="Gets data.", parameters={"type": "object"}),
)
CALL = ModelCall(
    model="small", messages=(ModelMessage(role=ModelRole.USER, text="12345"),), tools=TOOLS
)


def chunk(choice=None, **members):
    """A chunk as OpenAI writes it."""
    about = {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "small"}
    return {**about, "choices": [] if choice is None else [{"index": 0, **choice}], **members}


def delta(reason=None, **members):
    return chunk({"delta": members, "finish_reason": reason})


def words(*pieces):
    return [delta(content=piece) for piece in pieces]


def stop(reason="stop", **members):
    return chunk({"delta": {}, "finish_reason": reason, **members})


def fragment(name=None, arguments=None, *, index=None, id=None, **members):
    function = {"name": name, "arguments": arguments}
    given = {key: value for key, value in function.items() if value is not None}
    numbers = {key: value for key, value in (("index", index), ("id", id)) if value is not None}
    return {**numbers, "function": given, **members}


def called(*fragments):
    return delta(tool_calls=list(fragments))


def event(payload):
    text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
    return f"data: {text}\n\n".encode()


def stream(*payloads):
    """The bytes of a stream; payloads that are bytes stand in it as they are."""
    return b"".join(one if isinstance(one, bytes) else event(one) for one in payloads)


def parsed(wire, *, size=0, call=CALL, **options):
    """The deltas of bytes that come all at once, or in blocks of a size; texts are joined."""
    parser = AnswerParser(call, **options)
    blocks = [wire[at : at + size] for at in range(0, len(wire), size)] if size else [wire]
    found = []
    for block in blocks:
        found += parser.feed(block)
        if parser.done:
            break
    return joined([*found, *parser.end()])


def joined(deltas):
    found = []
    for one in deltas:
        last = found[-1] if found else None
        if isinstance(one, TextDelta | ReasoningDelta) and type(one) is type(last):
            found[-1] = type(one)(last.text + one.text)
        else:
            found.append(one)
    return found
