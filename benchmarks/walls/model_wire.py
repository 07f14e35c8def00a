"""The pieces of which the answers of a misbehaving model are made, as they stand on the wire."""

from collections.abc import AsyncIterator, Callable
import json
from random import Random
from typing import Any, TypeAlias

from benchmarks.upstream import http_chunk

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
DONE = http_chunk(b"data: [DONE]\n\n")
PIECE = 64 * 1024
ENDLESS_SECONDS = 5.0

Parts: TypeAlias = AsyncIterator[bytes]
Way: TypeAlias = Callable[[int, Random], Parts]


def data(delta: dict[str, Any]) -> bytes:
    """An event with a part of an answer."""
    return b"data: %b\n\n" % json.dumps({"choices": [{"delta": delta}]}).encode()


def call_frame(name: str, arguments: str, *, index: int = 0) -> bytes:
    """A piece of a tool call; without a name it goes on with the one before."""
    call: dict[str, Any] = {"index": index, "function": {"arguments": arguments}}
    if name:
        call |= {"id": f"call{index:05}", "type": "function"}
        call["function"]["name"] = name
    return http_chunk(data({"tool_calls": [call]}))
