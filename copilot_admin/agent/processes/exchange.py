"""The server's end of the socket: an order leaves, and replies come back."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
import json
import socket

from copilot_admin.agent.processes.frames import LENGTH, SIZE
from protocol.json import Json
from protocol.json_tokens import has_more_tokens

_AT_ONCE = 256 * 1024  # bytes
# Counted as those of a body are. What takes a process over may send the longest reply that there is, of
# nothing but brackets: ten million lists took 3 s in one step, and 800 MB.
MOST_VALUES = 4_000_000


class TooLong(Exception):
    """The replies are longer than whoever ordered them takes."""


async def send_order(sock: socket.socket, order: Mapping[str, Json], body: bytes | str) -> None:
    """Sends an order; a text, which must be ASCII, is encoded piece by piece.

    Raises:
        OSError: Nobody takes it any more.
    """
    loop = asyncio.get_running_loop()
    head = json.dumps({**order, SIZE: len(body)}) + "\n"
    await loop.sock_sendall(sock, head.encode())
    if isinstance(body, bytes):
        await loop.sock_sendall(sock, body)
        return
    for start in range(0, len(body), _AT_ONCE):
        await loop.sock_sendall(sock, body[start : start + _AT_ONCE].encode("ascii"))


async def replies_from(sock: socket.socket, *, most_bytes: int) -> AsyncGenerator[Json, None]:
    """The replies to an order, until the last has come.

    Raises:
        TooLong: Together they are longer than `most_bytes`, or one has too much in it.
        EOFError: They break off.
        ValueError: They are no JSON.
    """
    left = most_bytes
    while length := int.from_bytes(await _exactly(sock, LENGTH), "big"):
        left -= length
        if left < 0:
            raise TooLong
        yield _parsed(await _exactly(sock, length))


async def _exactly(sock: socket.socket, length: int) -> bytes:
    loop, parts = asyncio.get_running_loop(), bytearray()
    while len(parts) < length:
        part = await loop.sock_recv(sock, min(length - len(parts), _AT_ONCE))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


def _parsed(data: bytes) -> Json:
    if has_more_tokens(data, MOST_VALUES):
        raise TooLong
    try:
        reply: Json = json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return reply
