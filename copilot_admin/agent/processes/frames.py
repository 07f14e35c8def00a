"""How orders and replies lie on the socket between two processes, and the worker's end of it.

An order is a line of JSON and as many bytes as it says. A reply is JSON behind its length; an empty
one says that there are no more. Nothing is unpickled: what reads the files of strangers may write
whatever they make it write.

The worker has no event loop: asyncio would be 10 MB more that each fork has to account for.
"""

from collections.abc import Iterable, Iterator
import json
import socket

from protocol.json import Json

LENGTH = 4  # bytes of the length of a reply
SIZE = "size"
_END = bytes(LENGTH)


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
        body = file.read(order[SIZE])
    if len(body) < order[SIZE]:
        raise EOFError
    return order, body


def send_replies(sock: socket.socket, replies: Iterable[Json]) -> None:
    """Sends each reply as it comes, and that there are no more."""
    for data in _encoded(replies):
        sock.sendall(len(data).to_bytes(LENGTH, "big") + data)
    sock.sendall(_END)


def _encoded(replies: Iterable[Json]) -> Iterator[bytes]:
    for reply in replies:
        # A text may hold half of a pair of surrogates; JSON's readers take it as it is.
        yield json.dumps(reply, ensure_ascii=False).encode("utf-8", "surrogatepass")
