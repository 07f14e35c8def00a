"""Chunks of a chat completion stream as servers write them, and what is read of them."""

import json

from copilot_admin.agent.llm.chat_chunks import ChunkReader
from copilot_admin.agent.llm.data_lines import DataLines
from copilot_admin.agent.values.model_call import ModelCall, ModelMessage, ModelRole

CALL = ModelCall(model="m", messages=(ModelMessage(role=ModelRole.USER, text="12345"),))


def lines_of(*blocks):
    lines = DataLines()
    return [data for block in blocks for data in lines.feed(block)] + lines.end()


def chunk(**delta):
    return json.dumps({"choices": [{"delta": delta}]}).encode()


def finish(reason):
    return json.dumps({"choices": [{"delta": {}, "finish_reason": reason}]}).encode()


def read(*payloads):
    return ChunkReader().read(payloads)


def ended(*payloads):
    reader = ChunkReader()
    reader.read(payloads)
    return reader.end(CALL)


def choices(*said):
    rows = [{"index": index, "delta": {"content": text}} for index, text in said]
    return json.dumps({"choices": rows}).encode()


def part(index=None, id=None, name=None, arguments=None):
    function = {"name": name, "arguments": arguments}
    return {"index": index, "id": id, "function": function}
