"""A server in the place of a Redis, which answers whatever it is asked with the same bytes."""

from collections.abc import Iterator
from contextlib import contextmanager
import socketserver
import threading

PIECE = 64 * 1024
AT_ONCE = 20  # more than a client asks in one piece
REPLIES = {
    "a number without digits": b":abc\r\n",
    "a length without digits": b"$abc\r\n",
    "no type": b"\x00\xff\r\n",
    "an error that is no text": b"-\xff\xfe\r\n",
    "not what was asked": b"+OK\r\n",
    "an empty list": b"*0\r\n",
    "lists in lists": b"*1\r\n" * 5000 + b":1\r\n",
    "still loading": b"-LOADING Redis is loading the dataset in memory\r\n",
    "no password": b"-NOAUTH Authentication required.\r\n",
    "a replica": b"-READONLY You can't write against a read only replica.\r\n",
}


@contextmanager
def babbling(reply: bytes) -> Iterator[str]:
    """Gives the address of the Redis."""

    class Babble(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            try:
                while self.request.recv(PIECE):
                    self.request.sendall(reply * AT_ONCE)
            except OSError:
                return

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Babble) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        try:
            yield f"redis://127.0.0.1:{server.server_address[1]}/0"
        finally:
            server.shutdown()
