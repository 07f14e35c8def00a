"""A client that costs little: it keeps the bytes of an answer and when the first words came."""

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
PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Heard:
    """What came back for one question.

    Attributes:
        raw: Every byte, HTTP included.
        first_words: Seconds from the question to the first words; None: there were none.
    """

    raw: bytes
    first_words: float | None

    @property
    def status(self) -> int:
        """The HTTP status; 0 where not even that arrived."""
        return int(self.raw[9:12]) if self.raw.startswith(b"HTTP/1.1 ") else 0

    @property
    def whole(self) -> bool:
        """Whether the end arrived."""
        return self.raw.endswith(LAST)

    @property
    def headers(self) -> Mapping[str, str]:
        """The response headers, with lower-case names."""
        head = self.raw.partition(b"\r\n\r\n")[0].decode()
        rows = (row.partition(":") for row in head.split("\r\n")[1:])
        return {name.lower(): value.strip() for name, _, value in rows}

    @property
    def body(self) -> bytes:
        """What came behind the headers, without the chunks that it came in."""
        return without_chunks(self.raw.partition(b"\r\n\r\n")[2])

    @property
    def text(self) -> str:
        """The words of the answer, in the format of Workspace or in that of OpenAI."""
        return "".join(map(_words, (data for _, data in decode(self.body))))


@dataclass(slots=True)
class Chat:
    """What a client repeats with each question.

    Attributes:
        trace_id: "": it sends none.
        said: The answers that it has got, with the script of each.
        token: Of its user; "": nobody names him.
        key: The endpoint key that it sends; "": none.
    """

    trace_id: str = field(default_factory=lambda: str(uuid4()))
    key: str = ""
    said: list[Script] = field(default_factory=list)
    token: str = ""


class Line(asyncio.Protocol):
    """One connection with one question on it."""

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
    def heard(self) -> Heard:
        return Heard(b"".join(self._parts), self._first_words)


async def ask(target: Target, script: Script, *, chat: Chat | None = None) -> Heard:
    """Asks a question, in a chat or in one of its own, and listens to the end."""
    line = await call(target, script, chat=chat)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS + script.seconds):
            await line.ended
    finally:
        line.transport.abort()
    return line.heard


def wanted(heard: Heard, target: Target, script: Script) -> Heard:
    """The answer, if it is the one that the script has.

    Raises:
        RuntimeError: It is another one, or not whole.
    """
    if not heard.whole or heard.text != script.text:
        raise RuntimeError(f"{target.path} answered something else: {heard.raw[-2000:]!r}")
    return heard


async def call(target: Target, script: Script, *, chat: Chat | None = None) -> Line:
    """Opens a connection and asks a question."""
    chat = chat or Chat()
    loop = asyncio.get_running_loop()
    _, line = await loop.create_connection(Line, "127.0.0.1", target.process.port)
    body = script.body_after(chat.said)
    line.ask(request(target, body, trace_id=chat.trace_id, token=chat.token, key=chat.key))
    return line


def request(target: Target, body: bytes, *, trace_id: str, token: str = "", key: str = "") -> bytes:
    """The bytes of a question."""
    named = f"Authorization: Bearer {token}\r\n" if token else ""
    traced = f"X-Trace-Id: {trace_id}\r\n" if trace_id else ""
    head = (
        f"POST {target.path} HTTP/1.1\r\nHost: 127.0.0.1:{target.process.port}\r\n"
        "Connection: close\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\n"
        f"{named}{traced}Content-Length: {len(body)}\r\n"
    )
    head += f"X-API-Key: {key}\r\n\r\n" if key else "\r\n"
    return head.encode() + body


def without_chunks(body: bytes) -> bytes:
    """Undoes the chunked transfer encoding, as far as the body goes."""
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
