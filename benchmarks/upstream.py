"""A scripted model server in a process of its own, which costs as little as it can.

It streams the chat completions API of OpenAI. The question contains the answer (`script.py`);
`GET /stats` returns counters.
"""

from argparse import ArgumentParser
import asyncio
from collections.abc import Sequence
from functools import cache
import json
import sys
from typing import Any

import httptools
import uvloop

from benchmarks.script import Script, piece

HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)
LAST = b"0\r\n\r\n"


class Stats:
    """Counters since the start."""

    def __init__(self) -> None:
        self.requests = 0
        self.chunks = 0

    def to_json(self) -> bytes:
        """Return the body of `GET /stats`."""
        return json.dumps(vars(self)).encode()


class Connection(asyncio.Protocol):
    """One connection: sequential requests, each with a scripted answer."""

    def __init__(self, stats: Stats) -> None:
        self._stats = stats
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self._timer: asyncio.Handle | None = None
        self._url = b""
        self._body: list[bytes] = []

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def connection_lost(self, error: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        url, body = self._url, b"".join(self._body)
        self._url, self._body = b"", []
        if url.endswith(b"/chat/completions"):
            self._begin(Script.find(body), b'"include_usage":true' in body)
        elif url.endswith(b"/models"):
            self._whole(b'{"object":"list","data":[{"id":"scripted","object":"model"}]}')
        else:
            self._whole(self._stats.to_json())

    def _whole(self, body: bytes) -> None:
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        self._transport.write(head % len(body) + body)

    def _begin(self, script: Script, with_usage: bool) -> None:
        self._stats.requests += 1
        self._script, self._with_usage, self._said = script, with_usage, 0
        self._transport.write(HEAD + frame({"role": "assistant", "content": ""}))
        self._stats.chunks += 1
        self._start = self._loop.time()
        self._timer = self._loop.call_at(self._start, self._say)

    def _say(self) -> None:
        """Send the next chunk on a schedule, so that a slow moment doesn't slow the whole answer."""
        script = self._script
        if self._said == script.chunks:
            self._end()
            return
        self._transport.write(text_frame(self._said))
        self._said += 1
        self._stats.chunks += 1
        self._timer = self._loop.call_at(
            self._start + self._said * script.every_ms / 1000, self._say
        )

    def _end(self) -> None:
        tail = frame({}, finish="stop")
        if self._with_usage:
            tail += usage_frame(self._script.chunks)
        self._transport.write(tail + http_chunk(b"data: [DONE]\n\n") + LAST)
        self._stats.chunks += 2 if self._with_usage else 1


def http_chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def frame(delta: dict[str, str], *, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return _event([choice], usage=None)


def usage_frame(tokens: int) -> bytes:
    usage = {"prompt_tokens": 50, "completion_tokens": tokens, "total_tokens": 50 + tokens}
    return _event([], usage=usage)


@cache
def text_frame(number: int) -> bytes:
    return frame({"content": piece(number)})


def _event(choices: list[Any], *, usage: dict[str, int] | None) -> bytes:
    chunk = {
        "id": "chatcmpl-BfQk3mZrJw8tPnLx0Vd2aYs7HcEuG",
        "object": "chat.completion.chunk",
        "created": 1760000000,
        "model": "scripted",
        "service_tier": "default",
        "system_fingerprint": "fp_51db84afab",
        "choices": choices,
        "usage": usage,
    }
    return http_chunk(b"data: %b\n\n" % json.dumps(chunk, separators=(",", ":")).encode())


def main(arguments: Sequence[str]) -> None:
    """Serve until the process is ended."""
    parser = ArgumentParser(prog="python -m benchmarks.upstream", description=__doc__)
    parser.add_argument("port", type=int)
    uvloop.run(serve(parser.parse_args(arguments).port))


async def serve(port: int) -> None:
    stats = Stats()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(stats), "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
