"""Refuses a request whose body may still be on its way, so that its sender hears why.

A client that is cut off while it sends loses the answer: what it still sends is taken and thrown
away, within reason, and only then the answer ends.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from copilot_admin.errors import RequestError
from copilot_admin.http.asgi_types import Message, Receive, Scope, Send, header
from copilot_admin.http.refusals import send_refusal

LINGERING_BYTES = 256 * 1024 * 1024
LINGERING_SECONDS = 30.0
# For who asks before he sends (`Expect`), and will not: some of them send without an answer.
ASKED_SECONDS = 1.0
_CLOSE = [(b"connection", b"close")]


class Incoming:
    """The messages of one body; after the last one there is nothing to wait for."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.ended = self.begun = False

    async def next(self) -> Message:
        """Waits for the next message of the body, and notes whether it is the last."""
        self.begun = True
        message = await self._receive()
        self.ended = not message.get("more_body", False)
        return message


async def refuse(
    scope: Scope,
    incoming: Incoming,
    send: Send,
    error: RequestError,
    *,
    then: Callable[[], Awaitable[None]] | None = None,
    seconds: float = LINGERING_SECONDS,
) -> None:
    """Answers while the client still sends, and hangs up when it is done with that.

    Args:
        scope: The request.
        incoming: What is left of its body.
        send: Takes the answer.
        error: The answer.
        then: What is done as soon as the whole answer has left.
        seconds: How long the rest may take.
    """

    async def send_open(message: Message) -> None:
        await send({**message, "more_body": True} if "body" in message else message)

    is_asked = not incoming.begun and _asks_first(scope)
    await send_refusal(scope, send_open, error, headers=_CLOSE)
    if then is not None:
        await then()
    with suppress(TimeoutError):
        if is_asked:
            async with asyncio.timeout(ASKED_SECONDS):
                await incoming.next()
        async with asyncio.timeout(seconds):
            await _throw_away(incoming)
    await send({"type": "http.response.body", "body": b""})


def _asks_first(scope: Scope) -> bool:
    """Whether a client sends its body only when it is told to (RFC 9110, 10.1.1)."""
    return (header(scope, b"expect") or b"").lower() == b"100-continue"


async def _throw_away(incoming: Incoming) -> None:
    size = 0
    while not incoming.ended and size < LINGERING_BYTES:
        size += len((await incoming.next()).get("body", b""))
