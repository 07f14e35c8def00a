"""Clients that do not listen: they read nothing, or a little, or leave in mid-answer."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
import json
from random import Random
from typing import TypeAlias

from benchmarks.walls.arena import JSON, Arena, human, spread
from benchmarks.walls.misbehaviour import Order
from benchmarks.walls.sending import head
from benchmarks.walls.unhurried import PIECE, unhurried

AT_ONCE = 8
LARGEST = 8_000_000  # far more than the sockets between us hold
LEAVES_AFTER_SECONDS = 4.0
GIVEN_UP_SECONDS = 30.0  # a client that has read nothing for so long
MOST_SECONDS = 240.0
Listens: TypeAlias = Callable[[Random, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def send(arena: Arena) -> None:
    """Long answers, and nobody who hears their end."""

    async def case(random: Random) -> None:
        listens = random.choice((_reads_nothing, _reads_a_little, _leaves, _says_that_it_leaves))
        await _ask(arena, random, listens)

    await arena.each(case, at_once=AT_ONCE)


async def _ask(arena: Arena, random: Random, listens: Listens) -> None:
    """Asks for much; what the journal knows of it afterwards is looked at as of all others."""
    arena.sent += 1
    order = Order(
        random.choice(("many_tokens", "huge_token", "web_page", "error_body", "many_calls")),
        spread(random, 1000, LARGEST),
        random.getrandbits(32),
    )
    body = json.dumps({"messages": [human(f"Please {order}")]}).encode()
    first = head("POST", "/v1/copilots/wild/query", {**JSON, "Content-Length": str(len(body))})
    async with unhurried(arena.port) as (reader, writer):
        writer.write(first + body)
        with suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(MOST_SECONDS):
                await listens(random, reader, writer)


async def _reads_nothing(
    random: Random, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Not one byte, for a while or until long after it was given up; then whatever there is."""
    await asyncio.sleep(random.choice((random.uniform(1, 10), GIVEN_UP_SECONDS + 15)))
    while await reader.read(PIECE):
        pass


async def _reads_a_little(
    random: Random, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Slower than any model speaks; then it leaves."""
    for _ in range(random.randint(1, 100)):
        if not await reader.read(PIECE):
            break
        await asyncio.sleep(0.05)


async def _leaves(
    random: Random, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """At any moment, before the first words or after."""
    await asyncio.sleep(random.uniform(0, LEAVES_AFTER_SECONDS))


async def _says_that_it_leaves(
    random: Random, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Ends its own half of the connection, and reads what still comes."""
    await asyncio.sleep(random.uniform(0, LEAVES_AFTER_SECONDS))
    writer.write_eof()
    while await reader.read(PIECE):
        pass
