"""Bodies and headers: every method, any length, any pace, with and without an end."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from random import Random

from benchmarks.upstream import LAST, http_chunk
from benchmarks.walls.arena import JSON, Arena, spread
from benchmarks.walls.sending import Reply, head

AT_ONCE = 3
METHODS = (
    *("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT"),
    *("PROPFIND", "REPORT", "MKCOL", "LOCK", "PURGE", "M-SEARCH", "SUBSCRIBE"),
)
PATHS = (
    *("/v1/copilots/wild/query", "/healthz", "/copilots.json", "/admin/", "/admin/login/"),
    *("/v2/components", "/v2/components/calculator", "/agents.json", "/nowhere", "/openapi.json"),
)
LIMIT = 20 * 2**20  # COPILOT_MAX_BODY_MB
LARGEST = 300 * 2**20
LONGEST_HEAD = 64 * 1024
REFUSED_SECONDS = 1.0
PIPELINED = 200
_PIECE = 2**20


async def send(arena: Arena) -> None:
    """Cases of all kinds; large bodies are the most of them."""
    kinds = (_declared, _chunked, _one_byte_blocks, _headers, _endless_head, _kept_alive, _left)

    async def case(random: Random) -> None:
        await random.choice(kinds)(arena, random)

    await arena.each(case, at_once=AT_ONCE)


async def _declared(arena: Arena, random: Random) -> None:
    """A body whose length is told, rightly."""
    size = spread(random, 1, LARGEST)
    await _sized(arena, random, size, {"Content-Length": str(size)}, _filled(size))


async def _chunked(arena: Arena, random: Random) -> None:
    size = spread(random, 1, LARGEST)
    parts = (http_chunk(part) for part in _filled(size))
    await _sized(arena, random, size, {"Transfer-Encoding": "chunked"}, _with_end(parts))


async def _sized(
    arena: Arena, random: Random, size: int, framing: dict[str, str], parts: Iterable[bytes]
) -> None:
    method, path = random.choice(METHODS), random.choice(PATHS)
    is_form = path.startswith("/admin")
    first = head(method, path, {**JSON, **framing})
    declared = "Content-Length" in framing and size > LIMIT
    decided = len(first) if declared else len(first) + LIMIT if size > LIMIT else None
    reply = await arena.send(first, parts, decided_after=decided)
    if size <= LIMIT or not reply.status or (is_form and reply.status == 302):
        return
    _look_at_refusal(arena, reply, of=f"{method} {path} {size} {tuple(framing)}")


def _look_at_refusal(arena: Arena, reply: Reply, *, of: str) -> None:
    if reply.status not in (400, 405, 413):  # a server need not take CONNECT at all
        arena.fault(f"{reply.status} and not 413 after {of}")
    elif reply.status == 413 and not _has_words(reply.body) and not of.startswith("HEAD"):
        arena.fault(f"413 without words after {of}: {reply.body[:100]!r}")
    if reply.waited > REFUSED_SECONDS:
        arena.fault(f"{reply.status} only after {reply.waited:.1f} s, after {of}")


def _has_words(body: bytes) -> bool:
    """Whether an error says something, in the form of the API or of components."""
    return b'"detail"' in body or b'"message"' in body


async def _one_byte_blocks(arena: Arena, random: Random) -> None:
    """A body in chunks of one byte."""
    number = spread(random, 100, 500_000)
    block = http_chunk(b" ") * 4096
    parts = _with_end(block for _ in range(number // 4096 + 1))
    first = head("POST", PATHS[0], {**JSON, "Transfer-Encoding": "chunked"})
    await arena.send(first, parts)


async def _headers(arena: Arena, random: Random) -> None:
    """Many headers or long ones; beyond 64 KB the status is 431."""
    size = spread(random, 1000, 200_000)
    number = spread(random, 1, 2000)
    rows = {f"X-{one}": "v" * (size // number) for one in range(number)}
    first = head("GET", random.choice(PATHS), rows)
    reply = await arena.send(first)
    longest = LONGEST_HEAD if len(first) > LONGEST_HEAD + 1000 else None
    if longest and reply.status != 431:
        arena.fault(f"{reply.status} and not 431 after {len(first)} bytes of headers")


async def _endless_head(arena: Arena, random: Random) -> None:
    """Headers that never end, until the server has had enough."""
    row = random.choice((b"X-A: b\r\n", b"X-" + b"a" * 5000 + b": b\r\n", b"x" * 1000))
    parts = (row * (_PIECE // len(row)) for _ in range(64))
    reply = await arena.send(b"GET /healthz HTTP/1.1\r\n", parts)
    if reply.status not in (400, 431):
        arena.fault(f"{reply.status} after headers without an end")


async def _kept_alive(arena: Arena, random: Random) -> None:
    """Many requests on one connection, all at once."""
    one = head("GET", "/healthz", {}).replace(b"Connection: close", b"Connection: keep-alive")
    last = head("GET", "/healthz", {})
    reply = await arena.send(one * random.randint(1, PIPELINED) + last)
    answered = reply.body.count(b"HTTP/1.1 200")
    if not answered and not reply.whole:
        arena.fault("requests one after the other were not answered")


async def _left(arena: Arena, random: Random) -> None:
    """A client that promises more than it sends, and leaves."""
    size = spread(random, 1, LIMIT)
    first = head("POST", PATHS[0], {**JSON, "Content-Length": str(size)})

    async def slowly() -> AsyncIterator[bytes]:
        for _ in range(random.randint(1, 20)):
            yield b" " * (size // 100)
            await asyncio.sleep(0.05)

    await arena.leave(first, slowly(), patience=random.uniform(0.1, 2))


def _filled(size: int) -> Iterator[bytes]:
    for start in range(0, size, _PIECE):
        yield b" " * min(_PIECE, size - start)


def _with_end(parts: Iterable[bytes]) -> Iterator[bytes]:
    yield from parts
    yield LAST
