"""How orders and replies lie on the socket between two processes.

An order is a line of JSON and as many bytes as it says. A reply is JSON behind its length; an empty
one says that there are no more. Nothing is unpickled: what reads the files of strangers may write
whatever they make it write.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
import json
import socket

from protocol.json import Json

_LENGTH = 4  # bytes of the length of a reply
_AT_ONCE = 256 * 1024  # bytes
_END = bytes(_LENGTH)
_SIZE = "size"


class TooLong(Exception):
    """The replies are longer than whoever ordered them takes."""


async def send_order(sock: socket.socket, order: Mapping[str, Json], body: bytes | str) -> None:
    """Sends an order; a text, which must be ASCII, is encoded piece by piece.

    Raises:
        OSError: Nobody takes it any more.
    """
    loop = asyncio.get_running_loop()
    head = json.dumps({**order, _SIZE: len(body)}) + "\n"
    await loop.sock_sendall(sock, head.encode())
    if isinstance(body, bytes):
        await loop.sock_sendall(sock, body)
        return
    for start in range(0, len(body), _AT_ONCE):
        await loop.sock_sendall(sock, body[start : start + _AT_ONCE].encode("ascii"))


async def replies_from(sock: socket.socket, *, most_bytes: int) -> AsyncGenerator[Json, None]:
    """The replies to an order, until the last has come.

    Raises:
        TooLong: Together they are longer than `most_bytes`.
        EOFError: They break off.
        ValueError: They are no JSON.
    """
    left = most_bytes
    while length := int.from_bytes(await _exactly(sock, _LENGTH), "big"):
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
    try:
        reply: Json = json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return reply


def take_order(sock: socket.socket) -> tuple[dict[str, Json], bytes]:
    """Waits for the order that comes over a socket.

    Raises:
        EOFError: Whoever gave it left before it was whole.
    """
    with sock.makefile("rb") as file:
        head = file.readline()
        if not head.endswith(b"\n"):
            raise EOFError
        order = json.loads(head)
        body = file.read(order[_SIZE])
    if len(body) < order[_SIZE]:
        raise EOFError
    return order, body


def send_replies(sock: socket.socket, replies: Iterable[Json]) -> None:
    """Sends each reply as it comes, and that there are no more."""
    for data in _encoded(replies):
        sock.sendall(len(data).to_bytes(_LENGTH, "big") + data)
    sock.sendall(_END)


def _encoded(replies: Iterable[Json]) -> Iterator[bytes]:
    for reply in replies:
        # A text may hold half of a pair of surrogates; JSON's readers take it as it is.
        yield json.dumps(reply, ensure_ascii=False).encode("utf-8", "surrogatepass")
