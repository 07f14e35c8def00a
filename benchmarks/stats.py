"""Asks the upstream what it has said so far."""

import asyncio
from dataclasses import dataclass
import json

from benchmarks.servers import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """What the upstream counts, since it started."""

    open: int  # answers being streamed
    requests: int
    chunks: int
    aborted: int  # answers whose reader left
    mixed: int  # requests with the words of another user than the one that they name


async def stats(model: Target) -> Stats:
    """Reads the counts."""
    reader, writer = await asyncio.open_connection("127.0.0.1", model.process.port)
    writer.write(b"GET /stats HTTP/1.1\r\nHost: upstream\r\n\r\n")
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split()[0])
    counts = json.loads(await reader.readexactly(length))
    writer.close()
    return Stats(**counts)
