"""Tells whoever watches a conversation that it has changed."""

import asyncio
from enum import StrEnum
import logging
import math
import time

from channels.exceptions import ChannelFull
from channels.layers import InMemoryChannelLayer, get_channel_layer
from redis.exceptions import RedisError

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
