"""uvicorn's HTTP protocol, which takes requests apart only when their turn to be answered is near.

A client may send requests before it has the answers to earlier ones. The stock protocol makes an object
of each that is in the bytes at hand, 14,000 of 256 kB: 22 MB of a connection whose first answer is slow.
And of a client that leaves it tells only the request that came last, so the one that is being answered
goes on.
"""

import asyncio
from contextvars import Context, copy_context
from typing import Any

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from copilot_admin.server.offered_upgrades import OfferedUpgrades
from copilot_admin.server.old_clients import HTTP_1_0, without_chunks

# What the parser is handed at once where a request may end and another begin. Such a piece holds some
# dozen of the shortest.
PIECE_BYTES = 1024
CHUNKED_PIECE_BYTES = 4096  # of a body of which nobody knows the end
# Of requests that wait; who sends more ahead gets the answers that are due, and has to come again.
MOST_HELD_BYTES = 64 * 1024


class EarlyRequests(OfferedUpgrades):
    """The stock protocol with a place for bytes whose time has not come.

    Attributes:
        is_deaf: Nothing that still comes is looked at.
        answering: What is being answered, or was last.
        has_untold_length: Of the body that comes, or came last.
    """

    is_deaf = False
    _apart: Context
    answering: RequestResponseCycle | None = None
    has_untold_length = False
    _held = b""
    _in_body = False  # also in its trailers
    _body_left = 0  # as far as it was told

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as its base
        """Keeps the context of the connection: what waits for an answer goes on in it."""
        self._apart = copy_context()
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Takes the bytes that came, and no more than may be held."""
        if self.is_deaf:
            return
        self._held += data
        self._go_on()
        if len(self._held) > MOST_HELD_BYTES:
            self._end_after_answers()

    def feed(self, data: bytes) -> None:
        """Hands the parser bytes whose turn it is; whoever bounds them does it here."""
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Gives up the answer of a client that is gone."""
        super().connection_lost(exc)
        self.give_up_answer()

    def give_up_answer(self) -> None:
        """Tells what is being answered that nobody listens; what waits is not begun."""
        self.is_deaf, self._held = True, b""
        self.pipeline.clear()
        cycle = self.answering
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()

    def forget_unread(self) -> None:
        """Looks at nothing that still comes, nor at a request that waits and has not come whole."""
        self.is_deaf, self._held = True, b""
        if self.pipeline and self.pipeline[0][0].more_body:
            self.pipeline.popleft()

    def on_headers_complete(self) -> None:
        """Notes how much of a body is to come behind a head."""
        self._in_body = True
        self._body_left = _length_in(self.headers)
        self.has_untold_length = not self._body_left
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Counts what is still to come of a body."""
        self._body_left = max(0, self._body_left - len(body))
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Lets a request end, unless its body is still unread."""
        if self.is_body_unread():
            return
        self._in_body, self._body_left = False, 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """An answer has ended; what has waited for it goes on.

        Not within what the answer left behind: its task calls this, and a page was given the thread
        of the request before it, whose end that does not outlive.
        """
        self._apart.copy().run(self._go_on_behind_answer)

    def _go_on_behind_answer(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing():
            self._go_on()

    def handle_websocket_upgrade(self) -> None:
        """Hands the connection on."""
        self.is_deaf = True
        super().handle_websocket_upgrade()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self.answering = cycle
        is_old = cycle.scope["http_version"] == HTTP_1_0
        super()._start_asgi_task(cycle, without_chunks(app, cycle) if is_old else app)

    def _go_on(self) -> None:
        """Hands on what was held, up to the end of a request for which another one has to wait."""
        data, self._held = self._held, b""
        place = 0
        while place < len(data) and not self.is_deaf:
            if self.pipeline and not self._in_body:
                self._held = data[place:]
                return
            size = self._body_left or (CHUNKED_PIECE_BYTES if self._in_body else PIECE_BYTES)
            self.feed(data[place : place + size])
            place += size

    def _end_after_answers(self) -> None:
        """Lets the requests that have come be answered, and the connection end with the last one."""
        self.is_deaf, self._held = True, b""
        self.cycle.keep_alive = False


def _length_in(headers: list[tuple[bytes, bytes]]) -> int:
    """The length of a body, as it was told; 0 where nobody knows it."""
    told = [value for name, value in headers if name == b"content-length"]
    chunked = any(name == b"transfer-encoding" for name, _ in headers)
    return int(told[0]) if len(told) == 1 and told[0].isdigit() and not chunked else 0
