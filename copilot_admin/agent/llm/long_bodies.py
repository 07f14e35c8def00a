"""The JSON of a long request, which is written as it is sent.

As a whole it was in memory once for us, once for the client library and once for the socket: 60 MB
beside a question of 20 MB.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
import json

import orjson

from protocol.json import Json, JsonObject

# Characters that one call writes; it takes eight bytes for each byte of them.
PIECE = 32 * 1024
_SHORT = 1024  # characters
_SENT_BYTES = 64 * 1024
_DEPTH = 5  # of the address of an image: body, messages, message, content, part


class LongBody:
    """A request that is written anew each time it is asked for, and lets others go between.

    Written at once, 18 MB of escapes kept everybody waiting for 120 ms, and a server that takes them
    as fast as they come does not part them either.
    """

    def __init__(self, body: JsonObject) -> None:
        self._body = body

    async def size(self) -> int:
        """How many bytes it has: there are servers that take no body without a length."""
        size = since = 0
        for piece in _written(self._body):
            since += len(piece)
            if since >= _SENT_BYTES:
                size, since = size + since, 0
                await asyncio.sleep(0)
        return size + since

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The bytes, as they are to be sent."""
        filled = bytearray()
        for piece in _written(self._body):
            filled += piece
            if len(filled) >= _SENT_BYTES:
                yield bytes(filled)
                filled.clear()
                await asyncio.sleep(0)
        yield bytes(filled)


def dumped(value: Json) -> bytes:
    """A value as JSON in one piece, as the pieces of a long body are together."""
    try:
        return orjson.dumps(value)
    except TypeError:  # half characters, and numbers beyond 64 bits
        return json.dumps(value).encode()


def _written(value: Json, depth: int = 0) -> Iterator[bytes]:
    """JSON in pieces, of which none that is a text is much longer than one of a text."""
    match value:
        case str():
            yield from _text_written(value)
        case dict() if depth < _DEPTH:
            yield b"{"
            for number, (key, member) in enumerate(value.items()):
                yield (b"," if number else b"") + dumped(key) + b":"
                yield from _written(member, depth + 1)
            yield b"}"
        case list() if depth < _DEPTH:
            yield b"["
            for number, member in enumerate(value):
                if number:
                    yield b","
                yield from _written(member, depth + 1)
            yield b"]"
        case _:
            yield dumped(value)


def _text_written(text: str) -> Iterator[bytes]:
    """A text in pieces: one that is written whole keeps its UTF-8 beside itself from then on."""
    if len(text) <= _SHORT:
        yield dumped(text)
        return
    step = min(PIECE, len(text) - 1)
    yield b'"'
    for start in range(0, len(text), step):
        yield dumped(text[start : start + step])[1:-1]
    yield b'"'
