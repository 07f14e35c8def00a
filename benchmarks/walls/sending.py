"""One request on a connection of its own, byte by byte as it is wanted; every end is a reply."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
import time

LONGEST_REPLY = 64 * 1024 * 1024  # bytes; what follows is left to lie
HANGS_SECONDS = 240.0  # no question may take so long, also on a busy machine
PIECE = 64 * 1024
_LAST = b"0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back.

    Attributes:
        status: Of HTTP; 0: the connection ended without a word.
        whole: Whether the end of the body arrived.
        waited: Seconds from the moment when the server could answer to its first byte.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    whole: bool
    waited: float

    @property
    def run_id(self) -> str:
        """The hexadecimal digits of the run's id."""
        return self.headers.get("x-completion-id", "").replace("-", "")


SILENCE = Reply(0, {}, b"", whole=False, waited=HANGS_SECONDS)


def head(method: str, path: str, headers: Mapping[str, str]) -> bytes:
    """The first bytes of a request; the connection ends with it."""
    rows = {"Host": "127.0.0.1", "Connection": "close", **headers}
    lines = (f"{name}: {value}\r\n" for name, value in rows.items())
    return f"{method} {path} HTTP/1.1\r\n{''.join(lines)}\r\n".encode("latin-1")


async def exchange(
    port: int,
    first: bytes,
    parts: AsyncIterator[bytes] | Iterable[bytes] = (),
    *,
    decided_after: int | None = None,
    patience: float = HANGS_SECONDS,
    half_closes: bool = False,
) -> Reply:
    """Sends a request and reads the answer at the same time, as servers may answer early.

    Args:
        port: Of the server.
        first: The head, or whatever comes first.
        parts: What follows; left where the server closes the connection.
        decided_after: The number of bytes after which the server knows enough to answer; None: all.
        patience: Seconds for all of it.
        half_closes: Ends its own half of the connection when everything is sent.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=PIECE)
    sender = _Sender(writer, decided_after, half_closes=half_closes)
    sending = asyncio.ensure_future(sender.send(first, parts))
    try:
        async with asyncio.timeout(patience):
            raw, began = await _read(reader)
    except TimeoutError:
        return SILENCE
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        writer.transport.abort()
    return _reply(raw, waited=max(began - (sender.decided or began), 0.0))


class _Sender:
    """Sends, and knows when the server had enough to answer."""

    def __init__(
        self, writer: asyncio.StreamWriter, decided_after: int | None, *, half_closes: bool
    ) -> None:
        self._writer = writer
        self._decided_after = decided_after
        self._half_closes = half_closes
        self._sent = 0
        self.decided: float | None = None

    async def send(self, first: bytes, parts: AsyncIterator[bytes] | Iterable[bytes]) -> None:
        with suppress(ConnectionError):
            await self._write(first)
            if isinstance(parts, AsyncIterator):
                async for part in parts:
                    await self._write(part)
            else:
                for part in parts:
                    await self._write(part)
            if self._half_closes:
                self._writer.write_eof()
        self.decided = self.decided or time.monotonic()

    async def _write(self, part: bytes) -> None:
        for start in range(0, len(part), PIECE):
            self._writer.write(part[start : start + PIECE])
            await self._writer.drain()
        self._sent += len(part)
        if self._decided_after is not None and self._sent >= self._decided_after:
            self.decided = self.decided or time.monotonic()


async def _read(reader: asyncio.StreamReader) -> tuple[bytes, float]:
    """The bytes until the server ends them, and when the first came."""
    raw, began = bytearray(), 0.0
    with suppress(ConnectionError):
        while len(raw) < LONGEST_REPLY and (part := await reader.read(PIECE)):
            began = began or time.monotonic()
            raw += part
    return bytes(raw), began or time.monotonic()


def _reply(raw: bytes, *, waited: float) -> Reply:
    top, found, body = raw.partition(b"\r\n\r\n")
    status_line, *rows = top.decode("latin-1").split("\r\n")
    words = status_line.split()
    if not found or len(words) < 2 or not words[1].isdigit():
        return Reply(0, {}, raw, whole=False, waited=waited)
    pairs = (row.partition(":") for row in rows)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    if "content-length" in headers:
        whole = len(body) >= int(headers["content-length"])
    else:
        whole = body.endswith(_LAST)
    return Reply(int(words[1]), headers, body, whole=whole, waited=waited)
