"""A model server on the loopback that plays what a test writes for it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
import json
import ssl
from typing import Any, NamedTuple, TypeAlias

from copilot_admin.agent.providers.http_client import close_clients
from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.agent.values.spec import ProviderSpec, Timeouts

SSE = "text/event-stream"


class Request(NamedTuple):
    """A request as the server read it."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Reply:
    """Writes a response; the test decides what, when, and how it ends."""

    def __init__(self, writer: asyncio.StreamWriter, read: asyncio.Event) -> None:
        self._writer = writer
        self._read = read
        self.left = asyncio.Event()  # the client is gone

    async def start(self, status: int = 200, *, type: str = SSE, **headers: str) -> None:
        lines = [f"HTTP/1.1 {status} X", f"Content-Type: {type}", "Transfer-Encoding: chunked"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.raw("\r\n".join((*lines, "", "")).encode())

    async def send(self, data: bytes) -> None:
        await self.raw(b"%x\r\n%s\r\n" % (len(data), data))

    async def events(self, *payloads: Any) -> None:
        await self.send(b"".join(_event(payload) for payload in payloads))

    async def end(self) -> None:
        await self.raw(b"0\r\n\r\n")

    async def raw(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def was_read(self) -> None:
        """Waits until the client has made something of what was sent."""
        await self._read.wait()
        self._read.clear()

    def close(self) -> None:
        self._writer.close()

    def cut(self) -> None:
        self._writer.transport.abort()


Handler: TypeAlias = Callable[[Request, Reply], Awaitable[None]]


@dataclass(slots=True)
class Server:
    """A running model server."""

    url: str
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    read: asyncio.Event = field(default_factory=asyncio.Event)  # set by a test that reads

    def provider(self, *, key: str = "sk-test", **timeouts: float) -> OpenAICompatible:
        spec = ProviderSpec(
            name="local",
            kind="openai_compatible",
            base_url=f"{self.url}/v1",
            api_key=key,
            timeouts=Timeouts(**timeouts),
        )
        return OpenAICompatible(spec)


@asynccontextmanager
async def serving(handler: Handler, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    """Serves on a free port until the test is done, then closes both sides."""
    tasks: set[asyncio.Task[None]] = set()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        served.connections += 1
        try:
            while (request := await _read(reader)) is not None:
                served.requests.append(request)
                reply = Reply(writer, served.read)
                watcher = asyncio.ensure_future(_watch(reader, reply))
                try:
                    await handler(request, reply)
                finally:
                    watcher.cancel()
                    await asyncio.wait({watcher})
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(converse, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    served = Server(f"{'https' if tls else 'http'}://127.0.0.1:{port}")
    try:
        yield served
    finally:
        await close_clients()
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def text_chunk(text: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}


def finish_chunk(reason: str = "stop") -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def _event(payload: Any) -> bytes:
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return f"data: {text}\n\n".encode()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    method, path, _ = first.split(" ")
    return Request(method, path, headers, body)


async def _watch(reader: asyncio.StreamReader, reply: Reply) -> None:
    """Notices that the client hung up: nothing else is sent while it waits for a response."""
    try:
        gone = await reader.read(1) == b""
    except ConnectionError:
        gone = True
    if gone:
        reply.left.set()
