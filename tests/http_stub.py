"""A server of the standard library that answers each request in one way."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import ssl
import threading
from typing import TypeAlias

Handle: TypeAlias = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def http_stub(
    handle: Handle, *, protocol: str = "HTTP/1.0", tls: ssl.SSLContext | None = None
) -> Iterator[str]:
    """The address of a server on the loopback, for as long as the block lasts.

    Args:
        handle: Answers a request whose body was read.
        protocol: That it speaks; HTTP/1.1 keeps connections open.
        tls: What it shows as its certificate.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = protocol

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            handle(self)

        do_POST = do_GET  # of its base

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
