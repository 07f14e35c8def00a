"""uvicorn's HTTP protocol, which reads a request on when its client offers another protocol too.

A client may offer HTTP/2 with a request that it wants answered in any case: Java's does so with each
that goes over plain HTTP (`Upgrade: h2c`). The stock parser stops behind such a head: it tells a
request without a body, and takes the body for the next request.
"""

from functools import partial
import sys
from typing import Any

import httptools

from copilot_admin.server.slow_takers import TakenInTime

_CALLBACKS = (
    *("on_message_begin", "on_url", "on_header", "on_headers_complete"),
    *("on_body", "on_message_complete"),
)
_OF_BODY = (b"content-length", b"transfer-encoding")


class _Rest:
    """The callbacks of a protocol that knows the head of a request, and hears what follows it."""

    def __init__(self, protocol: object) -> None:
        self.is_heard = False
        for name in _CALLBACKS:
            setattr(self, name, partial(self._tell, getattr(protocol, name)))

    def _tell(self, callback: Any, *arguments: Any) -> None:
        if self.is_heard:
            callback(*arguments)


class OfferedUpgrades(TakenInTime):
    """The stock protocol; what is offered besides WebSockets is passed over."""

    _fed = b""  # what the parser was handed last

    def data_received(self, data: bytes) -> None:
        """Hands bytes to the parser."""
        self._fed = data
        super().data_received(data)

    def is_body_unread(self) -> bool:
        """Whether the parser tells the end of a request of which it has read the head alone."""
        is_offered = self.parser.should_upgrade() and not self._should_upgrade()
        return is_offered and bool(self._framing())

    def _framing(self) -> list[tuple[bytes, bytes]]:
        """The headers that tell how long the body is."""
        return [row for row in self.headers if row[0] in _OF_BODY]

    def _unsupported_upgrade_warning(self) -> None:
        """Goes on behind the head; called while the parser's word about it is handled."""
        (place,) = getattr(sys.exception(), "args", (len(self._fed),))
        rest = self._fed[place:]
        if framing := self._framing():
            callbacks = _Rest(self)
            self.parser = httptools.HttpRequestParser(callbacks)
            rows = b"".join(b"%b: %b\r\n" % row for row in framing)
            self.parser.feed_data(b"POST / HTTP/1.1\r\n" + rows + b"\r\n")
            callbacks.is_heard = True
        if rest:
            self.data_received(rest)
