"""Tells an open transcript page that a turn of its conversation has changed."""

import asyncio
from functools import partial
import logging
from typing import Any

from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.contrib.auth import get_user
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest
from django.urls import path
from redis.exceptions import RedisError

from copilot_admin.answering.announce import PATIENCE_SECONDS, group_of
from copilot_admin.errors import Unavailable
from copilot_admin.models import Conversation
from copilot_admin.people.vouching import is_vouched_for
from copilot_admin.storage.writer import READER

VIEW = "copilot_admin.view_conversation"
# Source: https://www.iana.org/assignments/websocket/websocket.xhtml#close-code-number
TRY_AGAIN_LATER = 1013

logger = logging.getLogger(__name__)


class TranscriptConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """Says which turn changed, never what it says: the page fetches that with its own rights.

    The edge has refused other origins by now. What the client sends is ignored.
    """

    group: str | None = None

    async def connect(self) -> None:
        """Lets in staff who may read this conversation; soon says if that cannot be known now."""
        conversation_id = self.scope["url_route"]["kwargs"]["conversation_id"]
        try:
            # On the journal's thread: channels would have one thread for all sockets, on which each
            # waited for those before it while the database is away.
            may_watch = await READER.run(
                partial(_may_watch, self.scope["session"], conversation_id)
            )
            if may_watch:
                await self._join(group_of(conversation_id))
        except (Unavailable, RedisError, OSError, TimeoutError) as error:
            logger.warning("a live page is told to try later: %s", type(error).__name__)
            await self.close(TRY_AGAIN_LATER)
            return
        await (self.accept() if may_watch else self.close())

    async def disconnect(self, code: int) -> None:
        """Takes the page out of those that are told of changes."""
        if self.group is not None:
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None, **_: Any
    ) -> None:
        """Reads nothing: whoever watches has nothing to say."""

    async def transcript_changed(self, event: dict[str, Any]) -> None:
        """Passes a change on to the page."""
        await self.send_json({"turn": event["turn"], "kind": event["kind"]})

    async def _join(self, group: str) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self.channel_layer.group_add(group, self.channel_name)
        self.group = group


def _may_watch(session: SessionBase, conversation_id: int) -> bool:
    request = HttpRequest()
    request.session = session
    user = get_user(request)
    return (
        is_vouched_for(session)
        and user.is_active
        and user.is_staff
        and user.has_perm(VIEW)
        and Conversation.objects.filter(pk=conversation_id).exists()
    )


websocket_urlpatterns = [
    path("ws/transcripts/<int:conversation_id>/", TranscriptConsumer.as_asgi()),
]
