"""Connections of `requests` that end at a time: its own limits are of silence, not of the whole.

What comes in drops is never silent. The head of an answer is read by Python's HTTP client without a
word to anybody, so the end has to come from another thread.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import socket
from threading import Event, Thread
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool

_AGAIN_SECONDS = 0.5  # a connection may be made when the time is over already


class EndingAdapter(HTTPAdapter):
    """The stock adapter, which knows the connections that it made."""

    def __init__(self) -> None:
        super().__init__()
        self._made: list[HTTPConnection] = []

    def get_connection_with_tls_context(self, *args: Any, **kwargs: Any) -> HTTPConnectionPool:
        """The connections to a host, directly or by a proxy."""
        pool = super().get_connection_with_tls_context(*args, **kwargs)
        make = pool.ConnectionCls

        def made(**values: Any) -> object:
            connection = make(**values)
            if isinstance(connection, HTTPConnection):  # all of urllib3's are
                self._made.append(connection)
            return connection

        pool.ConnectionCls = made  # type: ignore[assignment]  # it is called, and nothing else
        return pool

    @contextmanager
    def ending_after(self, seconds: float) -> Iterator[None]:
        """Ends all connections when the time is over and the block is not."""
        is_done = Event()
        Thread(target=self._end, args=(seconds, is_done), daemon=True).start()
        try:
            yield
        finally:
            is_done.set()

    def _end(self, seconds: float, is_done: Event) -> None:
        while not is_done.wait(max(seconds, 0)):
            for connection in tuple(self._made):
                _shut(connection.sock)
            seconds = _AGAIN_SECONDS


def _shut(sock: socket.socket | None) -> None:
    """Ends a connection under its reader, below TLS, which would wait for the other side."""
    if sock is not None:
        with suppress(OSError):
            socket.socket.shutdown(sock, socket.SHUT_RDWR)
