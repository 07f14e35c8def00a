"""HTTP client for the identity provider."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import json
import socket
from threading import Event, Thread
import time
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool
from urllib3.exceptions import HTTPError

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
    if sock is not None:
        with suppress(OSError):
            socket.socket.shutdown(sock, socket.SHUT_RDWR)


TIMEOUT_SECONDS = 5.0  # to connect, and of silence
MOST_SECONDS = 15.0  # of all of it: also of a head that comes in drops
MOST_BYTES = 2_000_000  # twenty thousand groups are one
PIECE_BYTES = 65_536


class TooMuch(requests.RequestException):
    """An answer that is too long, or takes too long."""


def json_of(method: str, address: str, **sent: Any) -> Any:
    """What the provider answers, read as JSON.

    Args:
        method: Of HTTP.
        address: At the provider.
        sent: What `requests` takes: headers, data.

    Raises:
        requests.RequestException: It does not answer, refuses, or goes on for too long.
        ValueError: What it says is no JSON.
    """
    until = time.monotonic() + MOST_SECONDS
    try:
        text = _said(method, address, sent, until=until)
    except requests.RequestException as error:
        if error.response is None and time.monotonic() > until:
            raise TooMuch from error
        raise
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _said(method: str, address: str, sent: dict[str, Any], *, until: float) -> bytes:
    with (
        _session() as session,
        session.request(
            method, address, timeout=TIMEOUT_SECONDS, stream=True, allow_redirects=False, **sent
        ) as answer,
    ):
        if answer.is_redirect:
            raise requests.TooManyRedirects(response=answer)
        answer.raise_for_status()
        return _all_of(answer, until=until)


@contextmanager
def _session() -> Iterator[requests.Session]:
    adapter = EndingAdapter()
    with requests.Session() as session, adapter.ending_after(MOST_SECONDS):
        for scheme in ("https://", "http://"):
            session.mount(scheme, adapter)
        session.auth = _as_it_is
        yield session


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _all_of(answer: requests.Response, *, until: float) -> bytes:
    text = bytearray()
    try:
        while piece := answer.raw.read1(PIECE_BYTES, decode_content=True):
            text += piece
            if len(text) > MOST_BYTES:
                raise TooMuch(response=answer)
    except HTTPError as error:
        raise requests.ConnectionError(error) from error
    if time.monotonic() > until:  # a connection that is ended looks like the end of an answer
        raise TooMuch(response=answer)
    return bytes(text)
