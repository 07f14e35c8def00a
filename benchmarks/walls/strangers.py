"""The server of strangers: a model that keeps to nothing, files behind links, and a collector of traces.

`python -m benchmarks.walls.strangers PORT`.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, contextmanager, suppress
from random import Random
import sys
import tempfile

import uvloop

from benchmarks.processes import LOAD_CORE, Process, free_port, running, start
from benchmarks.walls.drawn_files import drawn_file
from benchmarks.walls.misbehaviour import answer_to

ENDLESS_SECONDS = 3.0
_PLAIN = b"HTTP/1.1 %d OK\r\nContent-Length: %d\r\n\r\n"
_MODELS = b'{"object":"list","data":[{"id":"scripted","object":"model"}]}'
_LONGEST_HEAD = 2**20


@contextmanager
def strangers() -> Iterator[Process]:
    """Runs the server."""
    port = free_port()
    with tempfile.TemporaryFile() as log:
        arguments = ("-m", "benchmarks.walls.strangers", str(port))
        with running(start(*arguments, port=port, core=LOAD_CORE, env={}, log=log)) as process:
            yield process


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
        body = await reader.readexactly(length)
        async with aclosing(_answer(head.split()[1].decode(), body)) as parts:  # type: ignore[type-var]  # generators all
            async for part in parts:
                writer.write(part)
                await writer.drain()
    writer.close()


def _answer(path: str, body: bytes) -> AsyncIterator[bytes]:
    if path.endswith("/chat/completions"):
        return answer_to(body)
    if path.endswith("/traces"):
        return _collected(Random(body))
    if path.startswith("/file/"):
        return _file(int(path.split("/")[2]))
    if path.startswith("/endless"):
        return _endless()
    return _whole(_MODELS, status=200) if path.endswith("/models") else _moved(path)


async def _file(seed: int) -> AsyncIterator[bytes]:
    """The file of a seed; whoever asks for it draws its kind from the same one."""
    _, data = await asyncio.to_thread(drawn_file, Random(seed))
    yield _PLAIN % (200, len(data)) + data


async def _collected(random: Random) -> AsyncIterator[bytes]:
    """What a collector may say instead of a word; some traces are taken as they should be."""
    begun = b"HTTP/1.1 %d OK\r\nContent-Type: application/x-protobuf\r\n"
    match random.randrange(7):
        case 0:
            yield _PLAIN % (200, 0)
        case 1:
            yield _PLAIN % (500, 2**20) + bytes(2**20)
        case 2:
            yield begun % 503 + b"Retry-After: 1000000\r\nContent-Length: 0\r\n\r\n"
        case 3:
            yield begun % 200 + b"X: y\r\n" * 50_000
        case 4:
            await asyncio.sleep(ENDLESS_SECONDS)
        case 5:
            async for part in _moved("/v1/traces"):
                yield part
        case _:
            async for part in _endless():
                yield part


async def _endless() -> AsyncIterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\n\r\n"
    end = asyncio.get_running_loop().time() + ENDLESS_SECONDS
    while asyncio.get_running_loop().time() < end:
        yield b"x" * 2**16


async def _moved(path: str) -> AsyncIterator[bytes]:
    """Sends on to itself, for ever."""
    yield b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n"


async def _whole(body: bytes, *, status: int) -> AsyncIterator[bytes]:
    yield _PLAIN % (status, len(body)) + body


async def _main(port: int) -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", port, limit=_LONGEST_HEAD)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_main(int(sys.argv[1])))
