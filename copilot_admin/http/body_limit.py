"""Limits of request bodies: bytes (413), time (408), and large ones that are read at once (503).

Compressed bodies are rejected (415): what they unpack to has no limit.

Django reads a body without a limit before any view runs, so the limit stands here. The body is
read whole and handed on as one message.
"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TypeVar

from django.core.exceptions import RequestAborted
from django.utils.translation import gettext_noop

from copilot_admin.errors import (
    BodyTimeout,
    BodyTooLarge,
    CompressedBody,
    MalformedBody,
    RequestError,
    Unavailable,
)
from copilot_admin.http.errors import send_error
from copilot_admin.http.scope import App, Receive, Scope, Send, get_header, replay
from protocol.json import MalformedJson

T = TypeVar("T")

READ_TIMEOUT_SECONDS = 30.0
MIN_BYTES_PER_SECOND = 100_000  # after the first 30 s
LARGE_BODY_BYTES = 1024 * 1024
MAX_LARGE_BODIES = 4  # read at once
MAX_INLINE_BYTES = 64 * 1024  # parsing so much JSON takes about 0.5 ms
_METHODS_WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS"})
# Some clients name `utf-8` as the encoding of plain JSON.
_COMPRESSIONS = (b"gzip", b"x-gzip", b"deflate", b"br", b"zstd", b"compress")
_COMPRESSED = gettext_noop(
    "The request body is compressed, which this server does not read. Send it without "
    "Content-Encoding."
)
_TOO_LARGE = gettext_noop(
    "The request body is larger than the %(max)g MB this server accepts. Send less data, or ask "
    "the operator to raise COPILOT_MAX_BODY_MB."
)
_TIMEOUT = gettext_noop("The request body did not arrive within %(seconds).0f seconds. Try again.")
_BUSY = "The server is reading as many large requests as it can. Try again in a few seconds."


class BodyLimit:
    """ASGI middleware that reads each request body within its limits."""

    def __init__(
        self, app: App, *, max_bytes: int, timeout_seconds: float = READ_TIMEOUT_SECONDS
    ) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.timeout_seconds = timeout_seconds
        self._large_bodies = asyncio.Semaphore(MAX_LARGE_BODIES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _has_body(scope):
            await self.app(scope, receive, send)
            return
        try:
            body = await self._read(scope, receive)
        except RequestAborted:
            return
        except RequestError as error:
            await send_error(scope, send, error)
            return
        whole = {"type": "http.request", "body": body, "more_body": False}
        del body  # the application drops it once it has been parsed
        await self.app(scope, replay(whole, receive), send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes:
        if (get_header(scope, b"content-encoding") or b"").lower().startswith(_COMPRESSIONS):
            raise CompressedBody(_COMPRESSED)
        declared = int(get_header(scope, b"content-length") or 0)
        if declared > self.max_bytes:
            raise self._too_large()
        seconds = self.timeout_seconds + (declared or self.max_bytes) / MIN_BYTES_PER_SECOND
        chunks: list[bytes] = []
        size, is_large, more = 0, False, True
        try:
            async with AsyncExitStack() as slot, asyncio.timeout(seconds):
                while more:
                    if not is_large and max(size, declared) > LARGE_BODY_BYTES:
                        is_large = True
                        await slot.enter_async_context(self._large_bodies)
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise RequestAborted
                    chunks.append(message.get("body", b""))
                    size += len(chunks[-1])
                    if size > self.max_bytes:
                        raise self._too_large()
                    more = message.get("more_body", False)
        except TimeoutError:
            if self._large_bodies.locked():
                raise Unavailable(_BUSY, code="busy") from None
            raise BodyTimeout(_TIMEOUT, params={"seconds": seconds}) from None
        return b"".join(chunks)

    def _too_large(self) -> BodyTooLarge:
        return BodyTooLarge(_TOO_LARGE, params={"max": self.max_bytes / (1024 * 1024)})


async def parse_body(parse: Callable[[], T], *, size: int, is_slow: bool = False) -> T:
    """Parse a JSON body, in a thread if it is large or slow: a request may not block the event loop."""
    try:
        if size <= MAX_INLINE_BYTES and not is_slow:
            return parse()
        return await asyncio.to_thread(parse)
    except MalformedJson as error:
        raise MalformedBody(error.public, code=error.code) from error


def _has_body(scope: Scope) -> bool:
    """Return whether a body may follow; source: RFC 9112, section 6.3."""
    length = get_header(scope, b"content-length") or b"0"
    is_announced = length != b"0" or get_header(scope, b"transfer-encoding") is not None
    return is_announced or scope["method"] not in _METHODS_WITHOUT_BODY
