"""A connection on which one question follows the other."""

import asyncio
from dataclasses import dataclass

from benchmarks.client import LAST
from benchmarks.servers import Target

PATIENCE_SECONDS = 60.0
LONGEST_ANSWER = 16 * 1024 * 1024  # bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; status 0: the server closed the connection without a word."""

    question: bytes
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def completion_id(self) -> str:
        """The hexadecimal digits of the run's id."""
        return self.headers.get("x-completion-id", "").replace("-", "")


class Connection:
    """Opened when it is needed, and again when the server has closed it."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._writer: asyncio.StreamWriter | None = None

    async def post(self, body: bytes) -> Answer:
        """Asks, and reads the whole answer."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            if self._writer is None:
                self._reader, self._writer = await asyncio.open_connection(
                    "127.0.0.1", self._target.process.port, limit=LONGEST_ANSWER
                )
            self._writer.write(self._head(body) + body)
            try:
                answer = await self._read(body)
            except (asyncio.IncompleteReadError, ConnectionError):
                answer = Answer(body, 0, {}, b"")
        if not answer.status or answer.headers.get("connection") == "close":
            self.close()
        return answer

    def close(self) -> None:
        """Closes the connection, if there is one."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _head(self, body: bytes) -> bytes:
        return (
            f"POST {self._target.path} HTTP/1.1\r\nHost: 127.0.0.1:{self._target.process.port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode()

    async def _read(self, question: bytes) -> Answer:
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        status_line, *rows = head.strip().split("\r\n")
        pairs = (row.partition(":") for row in rows)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        if "content-length" in headers:
            body = await self._reader.readexactly(int(headers["content-length"]))
        else:
            body = await self._reader.readuntil(LAST)
        return Answer(question, int(status_line.split()[1]), headers, body)
