"""Pages are made a few at a time, and what was made waits within a room to be taken by its client.

A page is a thread, and some times its length while it is drawn: hundreds at once kept the event loop
from the interpreter's lock for seconds. What was made stays until the client has taken it, so who asks for much and
takes nothing would fill the memory. The room is for programs as well; they wait for no turn, as what
they ask for is read by one thread.
"""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack

from django.utils.translation import gettext_noop

from copilot_admin.errors import Unavailable
from copilot_admin.http.asgi_types import HANG_UP_KEY, App, Message, Receive, Scope, Send
from copilot_admin.http.bodies import is_log_in
from copilot_admin.http.pages_middleware import is_for_machines
from copilot_admin.http.refusals import send_refusal
from copilot_admin.http.shared_room import Share, SharedRoom

PAGES_AT_ONCE = 8  # one process draws one at a time: these wait for the database as well
# Passwords are checked one after the other, and anybody may send some.
LOG_INS_AT_ONCE = 4
TURN_SECONDS = 15.0
MOST_WAITING_PAGES = 1000
# Of all answers together that are not taken; the largest pages have some 10 MB.
ROOM_BYTES = 48 * 1024 * 1024
LARGEST_BYTES = 24 * 1024 * 1024
MOST_WAITING_ANSWERS = 32  # they are made already
_TOO_MANY = gettext_noop(
    "The server is asked for too many pages at once. Try again in a few seconds."
)


class Turns:
    """Lets a few through at a time, in the order in which they come; used in one event loop."""

    def __init__(self, at_once: int) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._waiting = 0

    async def take(self) -> None:
        """Waits for a turn, which has to be given back.

        Raises:
            Unavailable: None came for too long, or too many wait.
        """
        if self._waiting >= MOST_WAITING_PAGES:
            raise _too_many()
        self._waiting += 1
        try:
            async with asyncio.timeout(TURN_SECONDS):
                await self._free.acquire()
        except TimeoutError:
            raise _too_many() from None
        finally:
            self._waiting -= 1

    def give_back(self) -> None:
        """Lets the next one through."""
        self._free.release()


class AnswersInTurn:
    """ASGI middleware for what is made whole before it is sent."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.room = SharedRoom(
            largest=LARGEST_BYTES, most=ROOM_BYTES, most_waiting=MOST_WAITING_ANSWERS
        )
        self._pages = Turns(PAGES_AT_ONCE)
        self._log_ins = Turns(LOG_INS_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        with self.room.share() as share, ExitStack() as turn:
            if not is_for_machines(scope["path"]):
                turns = self._log_ins if is_log_in(scope) else self._pages
                try:
                    await turns.take()
                except Unavailable as error:
                    await send_refusal(scope, send, error)
                    return
                turn.callback(turns.give_back)
            share.on_put_out(scope.get(HANG_UP_KEY, _nothing))
            await self.app(scope, receive, _Sending(scope, send, share, on_room=turn.close))


class _Sending:
    """A `send` that waits for room before an answer begins, or says that there is none."""

    def __init__(
        self, scope: Scope, send: Send, share: Share, *, on_room: Callable[[], None]
    ) -> None:
        self._scope = scope
        self._send = send
        self._share = share
        self._on_room = on_room
        self._is_refused = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._begin(message)
        if not self._is_refused:
            await self._send(message)
            self._share.came += len(message.get("body", b""))

    async def _begin(self, message: Message) -> None:
        try:
            await self._share.grow(_length_in(message), came=0)
        except Unavailable as error:
            self._is_refused = True
            await send_refusal(self._scope, self._send, error)
        finally:
            self._on_room()


def _length_in(message: Message) -> int:
    """The length that an answer tells; a stream has none, and is made as it is taken."""
    told = [value for name, value in message["headers"] if name.lower() == b"content-length"]
    return int(told[0]) if told else 0


def _too_many() -> Unavailable:
    return Unavailable(_TOO_MANY, code="busy")


def _nothing() -> None:
    """Stands for closing a connection where another server than ours would have to do it."""
