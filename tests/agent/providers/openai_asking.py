"""Asks an OpenAI-compatible provider of a test, and says what came."""

import asyncio
from contextlib import aclosing
import json

import pytest

from copilot_admin.agent.providers.http_client import close_clients
from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.agent.values.model_call import (
    ALIVE,
    ModelCall,
    ModelMessage,
    ModelRole,
    Usage,
)
from copilot_admin.agent.values.spec import ProviderOptions, ProviderSpec
from copilot_admin.errors import RunError
from tests.agent.llm.chunks import joined
from tests.agent.providers.upstream import finish_chunk, serving, text_chunk

CALL = ModelCall(model="small", messages=(ModelMessage(role=ModelRole.USER, text="Hi"),))
USAGE = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}
COUNTED = Usage(input_tokens=9, output_tokens=2)


def make_spec(url="", *, kind="openai_compatible", key="sk-test", tool_calling=None, **options):
    more = {"tool_calling": tool_calling} if tool_calling else {}
    return ProviderSpec(
        name="p", kind=kind, base_url=url, api_key=key, options=ProviderOptions(**options), **more
    )


async def deltas_of(provider, *, read=None, call=CALL):
    """All deltas; the event, if any, is set at each."""
    found = []
    async with aclosing(provider.stream(call)) as deltas:
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
    return joined(delta for delta in deltas if delta is not ALIVE), server


def failed(handler, *, tls=None):
    """The error that the provider makes of a server, and the deltas before it."""

    async def run():
        seen = []
        async with serving(handler, tls=tls) as server:
            with pytest.raises(RunError) as caught:
                async for delta in server.provider().stream(CALL):
                    seen += [] if delta is ALIVE else [delta]
                    server.read.set()
            return caught.value, seen

    return asyncio.run(run())


def unreached(url="", **spec):
    """The error of a provider whose server can't be asked."""

    async def run():
        with pytest.raises(RunError) as caught:
            await deltas_of(OpenAICompatible(make_spec(url, **spec)))
        await close_clients()
        return caught.value

    return asyncio.run(run())


async def cut(reply):
    reply.cut()


async def ended(reply):
    await reply.end()


async def silent(reply):
    await reply.left.wait()


def answering(*payloads, then=ended, last=()):
    """A server that streams events; then, when words were read, other events."""

    async def handler(request, reply):
        await reply.start()
        await reply.events(*payloads)
        if then is not ended or last:
            await reply.was_read()
            await reply.events(*last)
        await then(reply)

    return handler


def refusing(status, body, **headers):
    async def handler(request, reply):
        await reply.start(status, type="application/json", **headers)
        await reply.send(json.dumps(body).encode())
        await reply.end()

    return handler


hello = answering(text_chunk("Hel"), text_chunk("lo"), finish_chunk(), USAGE, "[DONE]")
