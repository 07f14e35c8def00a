"""Tells an open transcript page that a turn of its conversation has changed."""

from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.contrib.auth.models import AnonymousUser, User
from django.urls import path

from copilot_admin.answering.announce import group_of
from copilot_admin.models import Conversation

VIEW = "copilot_admin.view_conversation"


class TranscriptConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """Says which turn changed, never what it says: the page fetches that with its own rights.

    The edge has refused other origins by now. What the client sends is ignored.
    """

    group: str | None = None

    async def connect(self) -> None:
        """Lets in staff who may read this conversation."""
        conversation_id = self.scope["url_route"]["kwargs"]["conversation_id"]
        if not await _may_watch(self.scope["user"], conversation_id):
            await self.close()
            return
        self.group = group_of(conversation_id)
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self.accept()

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


@database_sync_to_async  # type: ignore[untyped-decorator]  # channels has no types
def _may_watch(user: User | AnonymousUser, conversation_id: int) -> bool:
    return (
        user.is_active
        and user.is_staff
        and user.has_perm(VIEW)
        and Conversation.objects.filter(pk=conversation_id).exists()
    )


websocket_urlpatterns = [
    path("ws/transcripts/<int:conversation_id>/", TranscriptConsumer.as_asgi()),
]
