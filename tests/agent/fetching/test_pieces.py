"""Bodies are read as they come, and a connection that breaks is told apart from their end."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
import gc
from typing import cast

from aiohttp import ClientError, ClientResponse, ClientSession
import pytest

from copilot_admin.agent.fetching.pieces import chunks_of, next_piece, told_when_it_breaks
from tests.agent.providers.upstream import Reply, serving
from tests.polling import HANGS_SECONDS


async def no_more(reply: Reply) -> None:
    reply.cut()


async def no_framing(reply: Reply) -> None:
    await reply.raw(b"no length\r\n")


def closing(response: ClientResponse) -> asyncio.Future[None]:
    assert response.connection is not None
    assert response.connection.protocol is not None
    closed = response.connection.protocol.closed
    assert closed is not None
    return closed


@pytest.mark.parametrize("breaks", [no_more, no_framing])
def test_what_came_before_a_connection_broke_is_read_and_then_that_it_broke(breaks):
    async def handler(request, reply):
        await reply.start()
        await reply.send(b"first")
        await reply.was_read()
        await reply.send(b"sec")
        await reply.send(b"ond")
        await breaks(reply)
        await reply.left.wait()

    async def read() -> list[bytes]:
        async with (
            serving(handler) as server,
            asyncio.timeout(HANGS_SECONDS),
            ClientSession() as session,
            session.get(server.url) as response,
        ):
            pieces = [await next_piece(response)]
            server.read.set()
            with told_when_it_breaks(response):
                await asyncio.wait({closing(response)})
                pieces.append(await next_piece(response))
                for _ in range(2):
                    with pytest.raises(ClientError):
                        await next_piece(response)
            return pieces

    assert asyncio.run(read()) == [b"first", b"second"]


def test_the_end_of_a_body_is_empty():
    async def handler(request, reply):
        await reply.start()
        await reply.send(b"all")
        await reply.end()

    async def read() -> list[bytes]:
        async with (
            serving(handler) as server,
            ClientSession() as session,
            session.get(server.url) as response,
        ):
            return [await next_piece(response) for _ in range(3)]

    assert asyncio.run(read()) == [b"all", b"", b""]


@pytest.mark.parametrize("breaks", [no_more, no_framing])
def test_who_waits_for_a_piece_is_told_that_the_connection_broke(breaks):
    said: list[dict[str, object]] = []

    async def handler(request, reply):
        await reply.start()
        await reply.send(b"first")
        await reply.was_read()
        await breaks(reply)
        await reply.left.wait()

    async def read() -> bytes:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: said.append(context))
        async with (
            serving(handler) as server,
            asyncio.timeout(HANGS_SECONDS),
            ClientSession() as session,
            session.get(server.url) as response,
        ):
            with told_when_it_breaks(response):
                first = await next_piece(response)
                server.read.set()
                with pytest.raises(ClientError):
                    await next_piece(response)
        return first

    assert asyncio.run(read()) == b"first"
    gc.collect()
    assert said == []  # such as that nobody asked why the connection closed


def test_a_connection_that_is_used_again_remembers_no_response():
    async def handler(request, reply):
        await reply.start()
        await reply.send(b"some")
        await reply.was_read()
        await reply.end()

    async def read() -> tuple[int, list[int]]:
        watched: list[int] = []
        async with serving(handler) as server, ClientSession() as session:
            for _ in range(3):
                async with session.get(server.url) as response:
                    closed = closing(response)
                    with told_when_it_breaks(response):
                        assert await next_piece(response) == b"some"
                        server.read.set()
                        assert await next_piece(response) == b""
                    watched.append(len(closed._callbacks or ()))
            return server.connections, watched

    assert asyncio.run(read()) == (1, [1, 1, 1])


class Broken:
    """A response whose connection is closed, and whose content has not been told so yet."""

    connection = None

    @property
    def content(self) -> "Broken":
        return self

    async def readany(self) -> bytes:
        raise RuntimeError("Connection closed.")

    async def iter_chunks(self) -> AsyncGenerator[tuple[bytes, bool], None]:
        yield b"first", True
        raise RuntimeError("Connection closed.")


def test_that_the_framing_broke_in_this_very_moment_is_an_error_of_the_connection():
    async def read() -> list[bytes]:
        response = cast(ClientResponse, Broken())
        found = []
        with pytest.raises(ClientError, match="before the whole body had come"):
            await next_piece(response)
        with pytest.raises(ClientError, match="before the whole body had come"):
            async with aclosing(chunks_of(response)) as chunks:
                async for chunk in chunks:
                    found.append(chunk)
        return found

    assert asyncio.run(read()) == [b"first"]


def test_chunks_are_read_as_they_were_cut_until_the_connection_breaks():
    async def handler(request, reply):
        await reply.start()
        await reply.raw(b"1\r\na\r\n2\r\nbc\r\n")
        await reply.was_read()
        reply.cut()

    async def read() -> list[bytes]:
        found = []
        async with (
            serving(handler) as server,
            asyncio.timeout(HANGS_SECONDS),
            ClientSession() as session,
            session.get(server.url) as response,
        ):
            with pytest.raises(ClientError):
                async with aclosing(chunks_of(response)) as chunks:
                    async for chunk in chunks:
                        found.append(chunk)
                        if len(found) == 2:
                            server.read.set()
        return found

    assert asyncio.run(read()) == [b"a", b"bc"]
