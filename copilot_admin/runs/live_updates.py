"""Live updates of open transcript pages."""

import asyncio
from enum import StrEnum
from functools import partial
import logging
from time import monotonic
from typing import Any

from channels.exceptions import ChannelFull
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from channels.layers import InMemoryChannelLayer, get_channel_layer
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest
from django.urls import path, re_path
from redis.exceptions import RedisError

from copilot_admin.accounts.second_factor import Step, missing_step
from copilot_admin.accounts.sessions import PROXY, SSO, is_session_valid
from copilot_admin.config.logs import ThrottledWarnings
from copilot_admin.errors import Unavailable
from copilot_admin.http.proxy_identity import REMOTE_USER_KEY, RemoteUser
from copilot_admin.http.scope import Receive, Scope, Send
from copilot_admin.models import Conversation
from copilot_admin.storage.writer import READER

SEND_TIMEOUT_SECONDS = 2.0  # a page that misses one change receives the next
CHECK_SECONDS = 15.0  # after which an open page notices that its session is over
# Reconnecting authenticates through the proxy again, which never reports a sign-out.
MAX_PROXY_SECONDS = 120.0
VIEW = "copilot_admin.view_conversation"
GROUP = "transcript."  # prefix of a conversation's group
# Source: https://www.iana.org/assignments/websocket/websocket.xhtml#close-code-number
TRY_AGAIN_LATER = 1013
NO_LONGER_ALLOWED = 1008
FAILURES: tuple[type[Exception], ...] = (Unavailable, RedisError, OSError)

logger = logging.getLogger(__name__)
_WARNINGS = ThrottledWarnings(logger)


class TurnChange(StrEnum):
    STARTED = "started"
    PROGRESS = "progress"
    FINISHED = "finished"


def may_have_viewers(conversation_id: int) -> bool:
    layer = get_channel_layer()
    if isinstance(layer, InMemoryChannelLayer):
        return f"{GROUP}{conversation_id}" in layer.groups
    return layer is not None


async def broadcast(conversation_id: int, *, turn_id: int, kind: TurnChange) -> None:
    """Send a change to all open pages of a conversation; a failing layer is logged."""
    layer = get_channel_layer()
    if layer is None:
        return
    message = {"type": "transcript.changed", "turn": turn_id, "kind": kind.value}
    try:
        async with asyncio.timeout(SEND_TIMEOUT_SECONDS):
            await layer.group_send(f"{GROUP}{conversation_id}", message)
    except (ChannelFull, RedisError, OSError):
        _WARNINGS.warn("broadcast", "pages of conversation %s got no update", conversation_id)


class TranscriptConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """Sends ids of changed turns; the page fetches the turn with the reader's permissions.

    The middleware has rejected other origins. Messages of the client are ignored.
    """

    _watch: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        conversation_id = self.scope["url_route"]["kwargs"]["conversation_id"]
        try:
            if not await self._may_view(self.scope["session"]):
                await self.close()
                return
            self.groups = [f"{GROUP}{conversation_id}"]  # channels leaves them on disconnect
            async with asyncio.timeout(SEND_TIMEOUT_SECONDS):
                await self.channel_layer.group_add(self.groups[0], self.channel_name)
        except FAILURES as error:
            logger.warning("a live page is told to try later: %s", type(error).__name__)
            await self.close(TRY_AGAIN_LATER)
        else:
            await self.accept()
            self._watch = asyncio.create_task(self._watch_session())

    async def disconnect(self, code: int) -> None:
        if self._watch is not None:
            self._watch.cancel()

    async def _watch_session(self) -> None:
        """Close the socket when its session ends, also without a change to send."""
        opened = monotonic()
        await asyncio.sleep(CHECK_SECONDS)
        while await self._check_session():
            if settings.SSO.proxy.is_configured and monotonic() - opened >= MAX_PROXY_SECONDS:
                await self.close(TRY_AGAIN_LATER)
                return
            await asyncio.sleep(CHECK_SECONDS)

    async def receive(self, *_: Any, **__: Any) -> None:
        """Ignore messages of the client."""

    async def transcript_changed(self, event: dict[str, Any]) -> None:
        """Forward a change, unless the reader signed out or lost the permission to read."""
        if await self._check_session():
            await self.send_json({"turn": event["turn"], "kind": event["kind"]})

    async def _check_session(self) -> bool:
        """Return whether the reader may still read; close the socket otherwise."""
        session = self.scope["session"]
        try:
            may_view = await self._may_view(session.__class__(session.session_key))
        except FAILURES:
            await self.close(TRY_AGAIN_LATER)
            return False
        if not may_view:
            await self.close(NO_LONGER_ALLOWED)
        return may_view

    async def _may_view(self, session: SessionBase) -> bool:
        # Not with `database_sync_to_async`: all sockets share its one thread, so each would wait
        # for the previous ones during an outage of the database.
        conversation_id = self.scope["url_route"]["kwargs"]["conversation_id"]
        remote: RemoteUser | None = self.scope.get(REMOTE_USER_KEY)
        return await READER.run(partial(_may_view, session, conversation_id, remote))


def _may_view(session: SessionBase, conversation_id: int, remote: RemoteUser | None) -> bool:
    sso = session.get(SSO) or {}
    if sso.get("source") == PROXY and (remote is None or remote.mark != sso["mark"]):
        return False  # the proxy no longer reports this user
    request = HttpRequest()
    request.session = session
    user = get_user(request)
    return (
        user.is_authenticated
        and is_session_valid(session)
        and user.is_staff
        and missing_step(request, user) is Step.NONE
        and user.has_perm(VIEW)
        and Conversation.objects.filter(pk=conversation_id).exists()
    )


async def _reject(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "websocket.close"})


websocket_urlpatterns = [
    path("ws/transcripts/<id:conversation_id>/", TranscriptConsumer.as_asgi()),
    re_path("", _reject),  # type: ignore[arg-type]  # an application, which channels routes to
]
