"""uvicorn's HTTP protocol, which gives up on a head that has no end, and refuses in words.

What is refused behind requests that came whole waits for their answers.

The application sees a request when its head is complete, and counts it then. A head that never
ends would be collected for ever, and one that comes in drops be awaited: nothing but the protocol
can see it. uvicorn itself only ends connections that were answered and have been silent since.

Heads that have not ended are held in memory: of all connections together they have little room, and of
each no more lines are kept than show that there are too many.

What a client writes behind its body (trailers) is no header: a proxy that replaces the header which
names a user lets trailers pass.
"""

import asyncio

from django.utils.translation import gettext_noop

from copilot_admin.errors import (
    BodyTimeout,
    HeadersTooLarge,
    MalformedBody,
    RequestError,
    Unavailable,
)
from copilot_admin.http.asgi_types import HANG_UP_KEY
from copilot_admin.http.header_limits import MOST_HEADER_BYTES, MOST_HEADERS
from copilot_admin.http.proxy_headers import PEER_KEY
from copilot_admin.server.early_refusals import early_refusal
from copilot_admin.server.early_requests import EarlyRequests

# Above the application's own limit, so that heads which do end are refused with all its headers.
MOST_HEAD_BYTES = 256 * 1024
# Of heads of all connections that go on, counted with what a line takes; a head of the usual size goes
# on whatever the others take. A thousand with 180 kB of short lines took 2 GB.
MOST_UNFINISHED_BYTES = 16 * 1024 * 1024
USUAL_HEAD_BYTES = 16 * 1024
LINE_BYTES = 200
# Of a body whose length nobody told, so many pieces may be as small as anything: those of a byte cost
# the event loop more than a second for each megabyte of them.
MOST_SMALL_PIECES = 1000
SMALL_PIECE_BYTES = 16  # on average
# From the first byte, or from the connection on, to the end of a head; browsers open connections
# ahead, and open another where one was closed.
HEAD_SECONDS = 20.0
# After a refusal, what still comes is thrown away for so long: on a connection that is closed over
# unread bytes the system takes back the answer as well.
LINGERING_SECONDS = 5.0


# Of lines behind those that are kept, what says how, and to whom, a refusal is told.
_TELLING = frozenset({b"accept", b"accept-language", b"origin"})
MOST_TELLING_BYTES = 1024  # of each

_ENDLESS = HeadersTooLarge(
    gettext_noop(
        "The headers of the request have no end. Send fewer headers or cookies, and a shorter address."
    )
)
_LONG_ADDRESS = HeadersTooLarge(  # which the parser does not read
    gettext_noop(
        "The address of the request is longer than the 64 KB this server accepts. Send a shorter one."
    )
)
_SLOW = BodyTimeout(
    gettext_noop(
        "The headers of the request did not arrive within %(seconds).0f seconds. Send it again."
    ),
    code="headers-timeout",
    params={"seconds": HEAD_SECONDS},
)
_BUSY = Unavailable(
    gettext_noop(
        "The server is receiving too many requests with long headers at once. Try again in a few seconds."
    ),
    code="busy",
)
_TOO_SMALL = MalformedBody(
    gettext_noop(
        "The body comes in thousands of pieces of a few bytes each. Send it in larger ones."
    ),
    code="malformed-request",
)
_MALFORMED = MalformedBody(
    gettext_noop("What was sent is no HTTP request that this server can read. Check the client."),
    code="malformed-request",
)


class UnfinishedHeads:
    """Counts the bytes of heads that have not ended, of all connections of the process."""

    def __init__(self) -> None:
        self.bytes = 0


UNFINISHED = UnfinishedHeads()


class BoundedHeads(EarlyRequests):
    """Bounds how much a head or trailer may bring, and how long it may take, before it ends."""

    url = b""  # until a head begins
    _in_head = True  # also between two requests
    _has_body = False  # in the bytes at hand
    _head_bytes = 0
    _unfinished = 0  # of the head, as all of them are counted
    _lines = _line_bytes = 0  # of the head
    _pieces = _piece_bytes = 0  # of the body
    _head_timer: asyncio.TimerHandle | None = None
    _last_words = b""  # a refusal that waits for the answers to what came before it

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as its base
        """A client is there; what it asks for has to come."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits for no head of a client that is gone."""
        self._stop_waiting()
        self._is_finished()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Counts anew for the head that begins, and notes whose it is."""
        self._in_head = True
        self._lines = self._line_bytes = 0
        self._kept_to_tell: set[bytes] = set()
        self._pieces = self._piece_bytes = 0
        super().on_message_begin()
        if self.client is not None:  # before any middleware makes another of it
            self.scope[PEER_KEY] = self.client[0]  # type: ignore[literal-required]  # ours
        self.scope[HANG_UP_KEY] = self.transport.abort  # type: ignore[literal-required]  # ours

    def on_header(self, name: bytes, value: bytes) -> None:
        """A line of the head; those of trailers come here too (RFC 9110, 6.5.1)."""
        self._lines += 1
        if not self._in_head:
            return
        is_kept = self._lines <= MOST_HEADERS + 1 and self._line_bytes <= MOST_HEADER_BYTES
        if is_kept or self._tells(name, value):
            super().on_header(name, value)
        self._line_bytes += len(name) + len(value)

    def _tells(self, name: bytes, value: bytes) -> bool:
        """Whether a refusal needs a line that is one too many; browsers may send it behind the cookies."""
        name = name.lower()
        if name not in _TELLING - self._kept_to_tell or len(value) > MOST_TELLING_BYTES:
            return False
        self._kept_to_tell.add(name)
        return True

    def on_headers_complete(self) -> None:
        """Counts no further, since the head has ended."""
        self._in_head = False
        self._is_finished()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Counts the pieces of a body whose length nobody told."""
        self._has_body = True
        self._pieces += 1
        self._piece_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A request has ended; what follows is another's head."""
        self._has_body = self._in_head = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Says the refusal that waited for this answer, and hangs up."""
        super().on_response_complete()
        if self._last_words and not self._is_answering() and not self.transport.is_closing():
            self.transport.write(self._last_words)
            self._hang_up()

    def feed(self, data: bytes) -> None:
        """Hands bytes to the parser, and waits in time for what a head still lacks."""
        was_in_head = self._in_head
        self._has_body = False
        super().feed(data)
        if self._in_head and not self._has_body and not self.is_deaf:
            self._await_head()
        else:
            self._stop_waiting()
        if self._has_body:
            self._is_finished()
            self._look_at_pieces()
        elif was_in_head == self._in_head:
            self._count(data)

    def _look_at_pieces(self) -> None:
        """Gives up on a body that is cut too small by whoever sends it, not by the line."""
        if self.is_deaf or self._in_head:  # a body that has ended costs nothing any more
            return
        too_small = self._piece_bytes < SMALL_PIECE_BYTES * self._pieces
        if self._pieces > MOST_SMALL_PIECES and too_small and self.has_untold_length:
            self._refuse(_TOO_SMALL)

    def _count(self, data: bytes) -> None:
        """Gives up on a head that has had too many bytes."""
        if self.is_deaf:
            return
        self._head_bytes += len(data)
        unfinished = self._head_bytes + LINE_BYTES * min(self._lines, MOST_HEADERS)
        UNFINISHED.bytes += unfinished - self._unfinished
        self._unfinished = unfinished
        if self._head_bytes > MOST_HEAD_BYTES:
            self._refuse(_ENDLESS)
        elif unfinished > USUAL_HEAD_BYTES and UNFINISHED.bytes > MOST_UNFINISHED_BYTES:
            self._refuse(_BUSY)

    def _is_finished(self) -> None:
        UNFINISHED.bytes -= self._unfinished
        self._head_bytes = self._unfinished = 0

    def _await_head(self) -> None:
        """Lets the time run within which a head has to end, unless it runs already."""
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._end_waiting)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _end_waiting(self) -> None:
        """The time is over; who has not said a word is told none."""
        self._head_timer = None
        is_asked = self.cycle is not None
        if is_asked and not self.cycle.response_complete:
            self._await_head()  # a head that came early waits for the answer before it
        elif self._head_bytes:
            self._refuse(_SLOW)
        else:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Refuses what the parser cannot read."""
        self._refuse(_LONG_ADDRESS if len(self.url) > MOST_HEADER_BYTES else _MALFORMED)

    def _refuse(self, error: RequestError) -> None:
        """Says why behind the answers to earlier requests, and ends the connection when the client does."""
        answer = early_refusal(error, address=self.url, headers=self.headers or [])
        self._stop_waiting()
        self._is_finished()
        self.parser = None  # type: ignore[assignment]  # it holds what it has not read to its end
        self.forget_unread()
        if self._is_answering():
            self._last_words = answer
            self.flow.resume_reading()  # else nobody would notice that the client leaves
            return
        begun = self.answering
        self.give_up_answer()  # nothing it says could be told from the refusal
        if begun is None or begun.response_complete or not begun.response_started:
            self.transport.write(answer)
        self._hang_up()

    def _is_answering(self) -> bool:
        """Whether something is being answered that has come whole."""
        cycle = self.answering
        return cycle is not None and not (cycle.response_complete or cycle.more_body)

    def _hang_up(self) -> None:
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.flow.resume_reading()
        self.loop.call_later(LINGERING_SECONDS, self.transport.close)
