"""Asks an OpenAI-compatible provider of a test, and says what came."""

import asyncio
from contextlib import aclosing
import json

import pytest

from copilot_admin.agent.values.model_call import (
    Alive,
    Delta,
    ModelCall,
    ModelMessage,
    ModelRole,
    TextDelta,
    Usage,
)
from copilot_admin.errors import RunError
from tests.agent.providers.upstream import finish_chunk, serving, text_chunk

CALL = ModelCall(model="small", messages=(ModelMessage(role=ModelRole.USER, text="Hi"),))


USAGE = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}


COUNTED = Usage(input_tokens=9, output_tokens=2)


async def deltas_of(provider, *, read=None):
    """All deltas; the event, if any, is set at each."""
    found = []
    async with aclosing(provider.stream(CALL)) as deltas:
        async for delta in deltas:
            found.append(delta)
            if read is not None:
                read.set()
    return found


def streamed(handler, *, key="sk-test"):
    """What the provider makes of a server; texts are joined, since a network cuts as it likes."""

    async def run():
        async with serving(handler) as server:
            return await deltas_of(server.provider(key=key), read=server.read), server

    deltas, server = asyncio.run(run())
    return joined(deltas), server


def joined(deltas):
    found: list[Delta | Alive] = []
    for delta in deltas:
        if isinstance(delta, Alive):
            continue
        if isinstance(delta, TextDelta) and found and isinstance(found[-1], TextDelta):
            found[-1] = TextDelta(found[-1].text + delta.text)
        else:
            found.append(delta)
    return found


def failed(handler, *, key="sk-test"):
    """The error that the provider makes of a server, and the deltas before it."""

    async def run():
        seen = []
        async with serving(handler) as server:
            with pytest.raises(RunError) as caught:
                async for delta in server.provider(key=key).stream(CALL):
                    if not isinstance(delta, Alive):
                        seen.append(delta)
                    server.read.set()
            return caught.value, seen

    return asyncio.run(run())


def refusing(status, body, **headers):
    async def handler(request, reply):
        await reply.start(status, type="application/json", **headers)
        await reply.send(json.dumps(body).encode())
        await reply.end()

    return handler


async def hello(request, reply):
    await reply.start()
    await reply.events(text_chunk("Hel"), text_chunk("lo"))
    await reply.events(finish_chunk(), USAGE, "[DONE]")
    await reply.end()
