"""A server of the standard library that answers each request in one way."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import ssl
import threading
from typing import TypeAlias


class Request(BaseHTTPRequestHandler):
    """A request whose body was read."""

    body = b""

    def answer(self, body: bytes = b"", status: int = 200, **headers: str) -> None:
        """Send a whole answer; underscores in names of headers become hyphens."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


Handle: TypeAlias = Callable[[Request], None]


@contextmanager
def http_stub(
    handle: Handle, *, protocol: str = "HTTP/1.0", tls: ssl.SSLContext | None = None
) -> Iterator[str]:
    """Run a server on the loopback for as long as the block lasts; yield its URL.

    Args:
        handle: Answers a request.
        protocol: That it speaks; HTTP/1.1 keeps connections open.
        tls: What it shows as its certificate.
    """

    class Handler(Request):
        protocol_version = protocol

        def do_GET(self) -> None:
            self.body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            handle(self)

        do_POST = do_GET  # of its base

        def log_message(self, *_: object) -> None:
            """Log nothing."""

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


def files_served(served: Mapping[str, bytes]) -> AbstractContextManager[str]:
    """Run a server that hands out files by their paths."""

    def handle(request: Request) -> None:
        body = served.get(request.path)
        request.answer(body or b"", 404 if body is None else 200)

    return http_stub(handle)
