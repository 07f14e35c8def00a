"""Requests by the thousand that do not come to their end: heads, endless headers, stalled bodies."""

import asyncio
from collections.abc import AsyncIterator
from random import Random

from benchmarks.upstream import http_chunk
from benchmarks.walls.admin_pages import MULTIPART, as_multipart
from benchmarks.walls.arena import JSON, Arena, spread
from benchmarks.walls.sending import head

CONNECTIONS = 50  # for each case, all of them at once
HEAD_SECONDS = 20.0  # for which the server waits for the end of a head
LONGEST_STAY = 30.0
LONGEST_HEAD = 200_000
LARGEST = 20 * 2**20
LARGEST_SENT = 1_000_000
PATHS = ("/v1/copilots/wild/query", "/admin/login/", "/v2/components/calculator", "/nowhere")
_LINES = (b"a:b\r\n", b"X-A: b\r\n", b"Cookie: " + b"a=b; " * 100 + b"\r\n", b"x" * 5000)
_PIECE = 64 * 1024


async def send(arena: Arena) -> None:
    """Thousands of connections at once, of all kinds; some leave, the others wait to be told."""
    kinds = (_says_nothing, _short_lines, _drops, _endless, _stalls, _stalled_form, _tiny_pieces)

    async def case(random: Random) -> None:
        await asyncio.sleep(random.uniform(0, 3))
        await random.choice(kinds)(arena, random)

    number = CONNECTIONS * arena.cases
    await arena.each(case, at_once=number, times=number)


async def _says_nothing(arena: Arena, random: Random) -> None:
    """A connection without a word, as browsers open them."""
    await arena.leave(b"", patience=random.uniform(0, LONGEST_STAY))


async def _short_lines(arena: Arena, random: Random) -> None:
    """A head that stops in its middle, of which each line takes more room than it is long."""
    line = random.choice(_LINES)
    size = spread(random, len(line), LONGEST_HEAD)
    await _stays(arena, random, _opening(random) + line * (size // len(line)))


async def _drops(arena: Arena, random: Random) -> None:
    """A head that comes byte by byte, for longer than anybody has to wait."""
    pause = random.uniform(0.05, 2)

    async def drops() -> AsyncIterator[bytes]:
        for byte in b"X-A: b\r\n" * int(2 * HEAD_SECONDS / pause):
            yield bytes([byte])
            await asyncio.sleep(pause)

    reply = await arena.send(_opening(random), drops())
    if reply.status not in (408, 503):
        arena.fault(f"{reply.status} and not 408 after a head in drops")


async def _endless(arena: Arena, random: Random) -> None:
    """Lines until the server has had enough."""
    line = random.choice(_LINES)
    parts = (line * (_PIECE // len(line)) for _ in range(64))
    reply = await arena.send(_opening(random), parts)
    if reply.status not in (400, 431, 503):
        arena.fault(f"{reply.status} and not 431 after headers without an end")


async def _stalls(arena: Arena, random: Random) -> None:
    """A body that stops on its way, whether its length was told or not."""
    size = spread(random, 2, LARGEST)
    begun = b'{"messages": [' + b" " * spread(random, 1, min(size, LARGEST_SENT))
    if random.random() < 0.5:
        framing, part = {"Content-Length": str(len(begun) + size)}, begun
    else:
        framing, part = {"Transfer-Encoding": "chunked"}, http_chunk(begun)
    await _stays(arena, random, head("POST", random.choice(PATHS), {**JSON, **framing}) + part)


async def _stalled_form(arena: Arena, random: Random) -> None:
    """A form whose last field does not end."""
    size = spread(random, 1, LARGEST_SENT)
    body = as_multipart({"username": random.choice(("x", "\u5e74", '"')) * (size // 3)})
    headers = {**MULTIPART, "Content-Length": str(len(body) + 10)}
    path = random.choice(("/admin/login/", "/admin/", "/admin/copilot_admin/copilot/add/"))
    await _stays(arena, random, head("POST", path, headers) + body)


async def _tiny_pieces(arena: Arena, random: Random) -> None:
    """A body in chunks of one byte, which stops or goes on until it is refused."""
    first = head("POST", PATHS[0], {**JSON, "Transfer-Encoding": "chunked"})
    await _stays(arena, random, first + http_chunk(b" ") * spread(random, 1, 100_000))


async def _stays(arena: Arena, random: Random, sent: bytes) -> None:
    """Says no more, and leaves sooner or later."""
    await arena.leave(sent, patience=random.uniform(0, LONGEST_STAY))


def _opening(random: Random) -> bytes:
    method = random.choice(("GET", "POST", "OPTIONS", "PROPFIND"))
    return f"{method} {random.choice(PATHS)} HTTP/1.1\r\nHost: 127.0.0.1\r\n".encode()
