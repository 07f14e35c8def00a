"""A cheap client that keeps the bytes of an answer and the time of the first words."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
import json
import time
from typing import Any
from uuid import uuid4

from benchmarks.script import FIRST_WORDS, Script
from benchmarks.servers import Target
from protocol.sse import decode

LAST = b"0\r\n\r\n"
TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one question.

    Attributes:
        raw: Every byte, HTTP included.
        first_words: Seconds from the question to the first words, or None.
    """

    raw: bytes
    first_words: float | None

    @property
    def status(self) -> int:
        """Return the HTTP status, or 0 if it did not arrive."""
        return int(self.raw[9:12]) if self.raw.startswith(b"HTTP/1.1 ") else 0

    @property
    def is_complete(self) -> bool:
        """Return whether the end arrived."""
        return self.raw.endswith(LAST)

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the response headers with lower-case names."""
        head = self.raw.partition(b"\r\n\r\n")[0].decode()
        rows = (row.partition(":") for row in head.split("\r\n")[1:])
        return {name.lower(): value.strip() for name, _, value in rows}

    @property
    def text(self) -> str:
        """Return the words of the answer, in the format of Workspace or of OpenAI."""
        body = without_chunks(self.raw.partition(b"\r\n\r\n")[2])
        return "".join(map(_words, (data for _, data in decode(body))))


@dataclass(slots=True)
class Chat:
    """A chat whose earlier questions and answers the client repeats."""

    trace_id: str = field(default_factory=lambda: str(uuid4()))
    answered: list[Script] = field(default_factory=list)


class Connection(asyncio.Protocol):
    """One connection with one question."""

    def __init__(self) -> None:
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.began: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._parts: list[bytes] = []
        self._first_words: float | None = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def ask(self, question: bytes) -> None:
        self._asked = time.perf_counter()
        self.transport.write(question)

    def data_received(self, data: bytes) -> None:
        self._parts.append(data)
        if self._first_words is None and FIRST_WORDS in data:
            self._first_words = time.perf_counter() - self._asked
            self.began.set_result(None)
        if data.endswith(LAST):
            self.transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        self.ended.set_result(None)

    @property
    def reply(self) -> Reply:
        return Reply(b"".join(self._parts), self._first_words)


async def ask(target: Target, script: Script, *, chat: Chat | None = None) -> Reply:
    """Ask a question, by default in a new chat, and read the answer.

    Raises:
        RuntimeError: The answer is not the one of the script.
    """
    connection = await open_question(target, script, chat=chat)
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS + script.seconds):
            await connection.ended
    finally:
        connection.transport.abort()
    reply = connection.reply
    if not reply.is_complete or reply.text != script.text:
        raise RuntimeError(f"{target.path} answered something else: {reply.raw[-2000:]!r}")
    return reply


async def open_question(target: Target, script: Script, *, chat: Chat | None = None) -> Connection:
    """Open a connection and send a question."""
    chat = chat or Chat()
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(Connection, "127.0.0.1", target.process.port)
    body = script.body_after(chat.answered)
    head = (
        f"POST {target.path} HTTP/1.1\r\nHost: 127.0.0.1:{target.process.port}\r\n"
        "Connection: close\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\n"
        f"X-Trace-Id: {chat.trace_id}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    connection.ask(head.encode() + body)
    return connection


async def count_chunks(model: Target) -> int:
    """Return how many chunks the upstream has sent since it started."""
    reader, writer = await asyncio.open_connection("127.0.0.1", model.process.port)
    writer.write(b"GET /stats HTTP/1.1\r\nHost: upstream\r\n\r\n")
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split()[0])
    counts = json.loads(await reader.readexactly(length))
    writer.close()
    return int(counts["chunks"])


def without_chunks(body: bytes) -> bytes:
    """Undo the chunked transfer encoding of a body that may be cut."""
    parts, start = [], 0
    while (line_end := body.find(b"\r\n", start)) > 0:
        size = int(body[start:line_end], 16)
        parts.append(body[line_end + 2 : line_end + 2 + size])
        start = line_end + 4 + size
    return b"".join(parts)


def _words(data: str) -> str:
    if data == "[DONE]":
        return ""
    payload = json.loads(data)
    if "choices" in payload:
        return "".join(choice["delta"].get("content", "") for choice in payload["choices"])
    return str(payload.get("delta", ""))
