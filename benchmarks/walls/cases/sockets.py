"""WebSockets of somebody who is logged in: floods, large frames, frames without an end."""

from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from random import Random
import struct
import zlib

from benchmarks.script import Script
from benchmarks.walls.admin_pages import person
from benchmarks.walls.arena import Arena, spread
from benchmarks.walls.sending import exchange, head

SOCKETS = 3  # for each case, all of them at once
LARGEST = 64 * 2**20
MOST_FRAMES = 50_000
LONGEST_STAY = 10.0
CONTINUATION, TEXT, BINARY, PING = 0, 1, 2, 9
_UNMASKED = bytes(4)  # a mask of zeros leaves the words as they are
_FINAL, _PACKED, _MASKED = 0x80, 0x40, 0x80
_CONVERSATION = "SELECT MAX(id) FROM copilot_admin_conversation"


async def send(arena: Arena) -> None:
    """Live pages of one conversation, all at once."""
    await arena.ask(Script(chunks=3, every_ms=0).body, slug="bench")
    ((conversation,),) = arena.installed.query(_CONVERSATION)
    async with person(arena.port) as reader:
        arena.statuses[await reader.log_in()] += 1
        first = _handshake(arena, f"/ws/transcripts/{conversation}/", reader.cookie)

        async def case(random: Random) -> None:
            arena.sent += 1
            with suppress(OSError):
                reply = await exchange(
                    *(arena.port, first, random.choice(KINDS)(random)),
                    patience=random.uniform(0.5, LONGEST_STAY),
                )
                if reply.status >= 500:  # who is cut off in the middle is told nothing
                    arena.fault(f"{reply.status} to a live page: {reply.body[:100]!r}")

        number = SOCKETS * arena.cases
        await arena.each(case, at_once=number, times=number)


def _handshake(arena: Arena, path: str, cookie: str) -> bytes:
    address = f"127.0.0.1:{arena.port}"
    wanted = {"Host": address, "Origin": f"http://{address}", "Cookie": cookie}
    key = b64encode(bytes(16)).decode()
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": key,
        "Sec-WebSocket-Extensions": "permessage-deflate",
    }
    return head("GET", path, {**wanted, **upgrade})


def frame(kind: int, words: bytes, *, flags: int = _FINAL, size: int | None = None) -> bytes:
    """A frame of a client (RFC 6455, 5.2); it may say that it is longer than it is."""
    length = len(words) if size is None else size
    if length < 126:
        told = bytes([_MASKED | length])
    elif length < 2**16:
        told = bytes([_MASKED | 126]) + struct.pack("!H", length)
    else:
        told = bytes([_MASKED | 127]) + struct.pack("!Q", length)
    return bytes([flags | kind]) + told + _UNMASKED + words


def _flood(random: Random) -> Iterator[bytes]:
    """Very many small frames, whose answers (of pings) nobody reads in time."""
    one = frame(random.choice((TEXT, BINARY, PING)), b"x" * random.randint(0, 100))
    for _ in range(spread(random, 100, MOST_FRAMES) // 100):
        yield one * 100


def _large(random: Random) -> Iterator[bytes]:
    """One frame, as large as it likes."""
    yield frame(BINARY, bytes(spread(random, 1000, LARGEST)))


def _begun(random: Random) -> Iterator[bytes]:
    """A frame that says it is large, and does not come."""
    yield frame(BINARY, b"x" * 100, size=spread(random, 1000, 2**62))


def _fragments(random: Random) -> Iterator[bytes]:
    """A message in frames that never ends."""
    yield frame(BINARY, b"x", flags=0)
    part = frame(CONTINUATION, b"x" * spread(random, 1, 100_000), flags=0)
    for _ in range(LARGEST // len(part) // random.randint(1, 64)):
        yield part


def _packed(random: Random) -> Iterator[bytes]:
    """A little that unpacks to much."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(bytes(spread(random, 1000, LARGEST)))
    yield frame(BINARY, data + packer.flush(zlib.Z_SYNC_FLUSH)[:-4], flags=_FINAL | _PACKED)


def _broken(random: Random) -> Iterator[bytes]:
    """What is no frame."""
    yield random.randbytes(spread(random, 1, 100_000))


def _silent(random: Random) -> Iterator[bytes]:
    """Nothing at all, as a page does."""
    yield b""


KINDS = (_flood, _large, _begun, _fragments, _packed, _broken, _silent)
