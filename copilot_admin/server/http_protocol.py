"""uvicorn's HTTP protocol, which gives up on a head that has no end.

The application sees a request when its head is complete, and counts it then. A head that never
ends would be collected for ever: nothing but the protocol can see it.
"""

import json

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# Above the application's own limit, so that heads which do end are refused with all its headers.
MOST_HEAD_BYTES = 256 * 1024
_BODY = json.dumps(
    {"detail": "The headers of the request have no end. Send fewer.", "code": "headers-too-large"}
).encode()
_ANSWER = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-type: application/json\r\ncache-control: no-store\r\nconnection: close\r\n"
    b"content-length: " + str(len(_BODY)).encode() + b"\r\n\r\n" + _BODY
)


class BoundedHeads(HttpToolsProtocol):
    """The stock protocol; what it counts has come while one and the same head went on."""

    _in_head = True
    _head_bytes = 0

    def on_message_begin(self) -> None:
        """A head begins."""
        self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """A head has ended."""
        self._in_head = False
        self._head_bytes = 0
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Hands bytes to the parser, unless the head has had too many already."""
        was_in_head = self._in_head
        super().data_received(data)
        if not (was_in_head and self._in_head) or self.transport.is_closing():
            return
        self._head_bytes += len(data)
        if self._head_bytes > MOST_HEAD_BYTES:
            self.transport.write(_ANSWER)
            self.transport.close()
