"""A live page over Redis stays open while nothing happens."""

import asyncio
from typing import Any

from channels_redis.core import RedisChannelLayer
import pytest

from copilot_admin.settings import CHANNEL_SOCKET_TIMEOUT_SECONDS
from tests.services import REDIS_URL


def layer_over_redis() -> Any:
    host = {"address": REDIS_URL, "socket_timeout": CHANNEL_SOCKET_TIMEOUT_SECONDS}
    return RedisChannelLayer(hosts=[host], prefix="idle-pages")


def test_reading_goes_on_for_longer_than_the_layer_waits():
    waits = RedisChannelLayer.brpop_timeout
    assert 2 * waits < CHANNEL_SOCKET_TIMEOUT_SECONDS


@pytest.mark.redis
def test_a_page_that_nobody_told_anything_for_a_while_is_told_of_the_next_change():
    async def scenario() -> Any:
        layer = layer_over_redis()
        layer.brpop_timeout = 0.1  # of a wait; five seconds make no difference
        asked, several = 0, asyncio.Event()
        ask = layer._brpop_with_clean

        async def counted(*arguments: Any, **options: Any) -> Any:
            nonlocal asked
            asked += 1
            if asked > 1:
                several.set()
            return await ask(*arguments, **options)

        layer._brpop_with_clean = counted
        channel = await layer.new_channel()
        waiting = asyncio.ensure_future(layer.receive(channel))
        await asyncio.wait(
            {waiting, idle := asyncio.ensure_future(several.wait())}, return_when="FIRST_COMPLETED"
        )
        assert idle.done(), waiting.exception()
        await layer.send(channel, {"type": "transcript.changed"})
        message = await waiting
        await layer.close_pools()
        return message

    assert asyncio.run(scenario())["type"] == "transcript.changed"
