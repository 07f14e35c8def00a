"""Answers to HTTP/1.0 as it knows them: until the connection ends.

uvicorn's cycle writes whatever has no length in chunks, which such a client shows to people as they are
(RFC 9112, 6.1), and tells it to go on sending (RFC 9110, 10.1.1).
"""

from typing import Any

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

HTTP_1_0 = "1.0"


def without_chunks(app: Any, cycle: RequestResponseCycle) -> Any:
    """The application as it answers a client of HTTP/1.0, whose connection ends with the answer."""
    cycle.waiting_for_100_continue = False

    async def answering(scope: Any, receive: Any, send: Any) -> None:
        has_length = False

        async def sent(message: Any) -> None:
            nonlocal has_length
            if message["type"] == "http.response.start":
                has_length = any(name == b"content-length" for name, _ in message["headers"])
                cycle.chunked_encoding = None if has_length else False
            elif not has_length:
                cycle.expected_content_length = len(message.get("body", b""))  # of this piece
            await send(message)

        await app(scope, receive, sent)

    return answering
