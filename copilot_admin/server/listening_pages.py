"""uvicorn's WebSockets, for pages that only listen: what they send is bounded, and nobody reads it.

The stock protocol keeps what a page sends for the application, which passes it over: parts of no bytes
without an end, and a traceback in the log for each text that is no UTF-8. And it never answers an opening
that its library refuses: the client waits for ever, and so does the connection.

The library takes heads of some hundred short lines. Behind a proxy that says who asks, one line may have
10 kB: such pages were never opened. The edge has limits of its own for the whole head.
"""

from http import HTTPStatus

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets import http11
from websockets.frames import CloseCode, Frame

from copilot_admin.http.header_limits import MOST_HEADERS
from copilot_admin.server.http_protocol import MOST_HEAD_BYTES

# A browser sends a dozen bytes for each ping that it gets, every 20 s.
MOST_BYTES = 16 * 1024
WITHIN_SECONDS = 20.0
PIECE_BYTES = 1024  # handed to the parser at once: 170 of the shortest frames, a millisecond
_REFUSED = "This is no request for a WebSocket that this server can read. Check the client.\n"
_ONLY_LISTENS = "a live page only listens"

http11.MAX_LINE_LENGTH = MOST_HEAD_BYTES
http11.MAX_NUM_HEADERS = MOST_HEADERS + 1


class ListeningPages(WebSocketsSansIOProtocol):
    """The stock protocol, for who has nothing to say."""

    _begun_at = 0.0  # when counting began
    _bytes = 0  # since then

    def data_received(self, data: bytes) -> None:
        """Hands bytes to the parser, and no more than a page has to send."""
        if not self.handshake_initiated:
            super().data_received(data)
            self._refuse_opening()
            return
        for place in range(0, len(data), PIECE_BYTES):
            piece = data[place : place + PIECE_BYTES]
            if self.transport.is_closing():
                return
            if self._says_too_much(len(piece)):
                self._hang_up()
                return
            super().data_received(piece)

    def handle_text(self, event: Frame) -> None:
        """Passes over a text: a live page only listens."""

    def handle_bytes(self, event: Frame) -> None:
        """Passes over bytes: a live page only listens."""

    def handle_cont(self, event: Frame) -> None:
        """Passes over the rest of a message: a live page only listens."""

    def _refuse_opening(self) -> None:
        """Says why the library does not open a socket, where it has said that to nobody."""
        if self.handshake_initiated or self.conn.handshake_exc is None:
            return
        said = b"".join(self.conn.data_to_send())
        refusal = said or self.conn.reject(HTTPStatus.BAD_REQUEST, _REFUSED).serialize()
        self.transport.write(refusal)
        self.transport.close()

    def _says_too_much(self, size: int) -> bool:
        now = self.loop.time()
        if now - self._begun_at > WITHIN_SECONDS:
            self._begun_at, self._bytes = now, 0
        self._bytes += size
        return self._bytes > MOST_BYTES

    def _hang_up(self) -> None:
        self.conn.fail(CloseCode.POLICY_VIOLATION, _ONLY_LISTENS)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.transport.close()
