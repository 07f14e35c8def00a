"""Live updates of open transcript pages."""

import asyncio
import contextlib
from enum import StrEnum
from functools import partial
import logging
import math
import time
from typing import Any

from channels.exceptions import ChannelFull
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from channels.layers import InMemoryChannelLayer, get_channel_layer
from django.contrib.auth import get_user
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest
from django.urls import path, re_path
from redis.exceptions import RedisError

from copilot_admin.accounts.sso_session import is_sso_session_valid
from copilot_admin.errors import Unavailable
from copilot_admin.http.scope import Receive, Scope, Send
from copilot_admin.models import Conversation
from copilot_admin.runs.tasks import spawn
from copilot_admin.storage.writer import READER

logger = logging.getLogger(__name__)


QUIET_SECONDS = 10.0  # between two lines in the log
PATIENCE_SECONDS = 2.0  # a page that misses one change sees the next


class TurnChange(StrEnum):
    """What happened to a turn, as live pages are told."""

    STARTED = "started"
    PROGRESS = "progress"
    FINISHED = "finished"


def group_of(conversation_id: int) -> str:
    """The channel-layer group of those who watch a conversation."""
    return f"transcript.{conversation_id}"


def may_be_watched(conversation_id: int) -> bool:
    layer = get_channel_layer()
    if isinstance(layer, InMemoryChannelLayer):
        return group_of(conversation_id) in layer.groups
    return layer is not None


class _Complaints:
    """Says that nobody is told, once in a while: each answer would say so every second."""

    def __init__(self) -> None:
        self._said_at = -math.inf

    def say(self, conversation_id: int) -> None:
        now = time.monotonic()
        if now - self._said_at >= QUIET_SECONDS:
            self._said_at = now
            logger.warning("watchers of conversation %s were not told", conversation_id)


_COMPLAINTS = _Complaints()


async def announce(conversation_id: int, *, turn_id: int, kind: TurnChange) -> None:
    """Sends a change to all open pages of a conversation; a layer that is down costs nothing."""
    layer = get_channel_layer()
    if layer is None:
        return
    message = {"type": "transcript.changed", "turn": turn_id, "kind": kind.value}
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await layer.group_send(group_of(conversation_id), message)
    except (ChannelFull, RedisError, OSError):
        _COMPLAINTS.say(conversation_id)


VIEW = "copilot_admin.view_conversation"
# Source: https://www.iana.org/assignments/websocket/websocket.xhtml#close-code-number
TRY_AGAIN_LATER = 1013
NO_LONGER_ALLOWED = 1008
LOOK_SECONDS = 20.0  # so long a page may stay after its reader logged out or lost a right
PAGE_FAULTS: tuple[type[Exception], ...] = (Unavailable, RedisError, OSError)
# Without the plain OSError: that is what the server raises where a page has gone.
LAYER_FAULTS: tuple[type[Exception], ...] = (RedisError, TimeoutError)


class TranscriptConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """Says which turn changed, never what it says: the page fetches that with its own rights.

    The edge has refused other origins by now. What the client sends is ignored.
    """

    group: str | None = None
    looking: asyncio.Task[None] | None = None
    is_closed = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except LAYER_FAULTS as error:
            await self._send_away(error)
        finally:
            if self.looking is not None:
                self.looking.cancel()

    async def connect(self) -> None:
        conversation_id = self.scope["url_route"]["kwargs"]["conversation_id"]
        try:
            may_watch = await self._is_allowed(self.scope["session"])
            if may_watch:
                await self._join(group_of(conversation_id))
        except PAGE_FAULTS as error:
            await self._send_away(error)
            return
        if not may_watch:
            await self.close()
            return
        await self.accept()
        self.looking = spawn(self._leave_in_time(), name=f"a live page of {conversation_id}")

    async def disconnect(self, code: int) -> None:
        if self.group is not None:
            with contextlib.suppress(*PAGE_FAULTS):
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await self.channel_layer.group_discard(self.group, self.channel_name)

    async def close(self, code: int | None = None, reason: str | None = None) -> None:
        """Ends the page, once: to the server a second end is a fault; of one that has gone there is none."""
        if not self.is_closed:
            self.is_closed = True
            with contextlib.suppress(OSError):  # which the server raises where it has gone
                await super().close(code, reason)

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None, **_: Any
    ) -> None:
        """Reads nothing: whoever watches has nothing to say."""

    async def transcript_changed(self, event: dict[str, Any]) -> None:
        """Passes a change on to the page."""
        await self.send_json({"turn": event["turn"], "kind": event["kind"]})

    async def _leave_in_time(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            session = self.scope["session"]
            try:
                # What the session was when the page came says nothing of what it is.
                may_watch = await self._is_allowed(session.__class__(session.session_key))
            except PAGE_FAULTS as error:
                await self._send_away(error)
                return
            if not may_watch:
                await self.close(NO_LONGER_ALLOWED)
                return

    async def _is_allowed(self, session: SessionBase) -> bool:
        # On the journal's thread: channels would have one thread for all sockets, on which each
        # waited for those before it while the database is away.
        conversation_id = self.scope["url_route"]["kwargs"]["conversation_id"]
        return await READER.run(partial(_may_watch, session, conversation_id))

    async def _send_away(self, error: Exception) -> None:
        if not self.is_closed:
            logger.warning("a live page is told to try later: %s", type(error).__name__)
            await self.close(TRY_AGAIN_LATER)

    async def _join(self, group: str) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self.channel_layer.group_add(group, self.channel_name)
        self.group = group


def _may_watch(session: SessionBase, conversation_id: int) -> bool:
    request = HttpRequest()
    request.session = session
    user = get_user(request)
    return (
        is_sso_session_valid(session)
        and user.is_active
        and user.is_staff
        and user.has_perm(VIEW)
        and Conversation.objects.filter(pk=conversation_id).exists()
    )


async def _nothing_here(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "websocket.close"})


websocket_urlpatterns = [
    path("ws/transcripts/<id:conversation_id>/", TranscriptConsumer.as_asgi()),
    re_path("", _nothing_here),  # type: ignore[arg-type]  # an application, which channels routes to
]
