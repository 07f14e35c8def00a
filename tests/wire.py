"""One HTTP request over a raw socket, read as it comes."""

import json
import socket
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from tests.polling import HANGS_SECONDS


class Line:
    """A connection with one request on it; close it at any moment to be a client that left."""

    def __init__(
        self,
        url: str,
        *,
        body: Any = None,
        method: str = "POST",
        headers: dict[str, str] | None = None,
    ) -> None:
        parts = urlsplit(url)
        self._socket = socket.create_connection((parts.hostname, parts.port), HANGS_SECONDS)
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body else b""
        rows = {
            "Host": parts.netloc,
            "Connection": "close",
            "Content-Type": "application/json",
            "Content-Length": str(len(data)),
            **(headers or {}),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in rows.items())
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        self._socket.sendall(f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + data)
        self.received = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._socket.close()

    def read_until(self, marker: bytes, *, seconds: float = HANGS_SECONDS) -> bool:
        """Reads until the marker came; False when it did not come in time."""
        try:
            while marker not in self.received:
                self._socket.settimeout(seconds)
                part = self._socket.recv(65536)
                if not part:
                    return False
                self.received += part
        except TimeoutError:
            return False
        return True

    def read_all(self) -> bytes:
        """Reads to the end; gives the body, without the framing of chunks where there is one."""
        self._socket.settimeout(HANGS_SECONDS)
        while part := self._socket.recv(65536):
            self.received += part
        _, _, body = self.received.partition(b"\r\n\r\n")
        return _dechunked(body) if "chunked" in self.headers.get("transfer-encoding", "") else body

    @property
    def status(self) -> int:
        self.read_until(b"\r\n\r\n")
        return int(self.received.split(b" ", 2)[1])

    @property
    def headers(self) -> dict[str, str]:
        self.read_until(b"\r\n\r\n")
        head = self.received.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
        rows = (row.partition(": ") for row in head)
        return {name.lower(): value for name, _, value in rows}


def _dechunked(body: bytes) -> bytes:
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size, 16)
        whole, body = whole + body[:length], body[length + 2 :]
    return whole
