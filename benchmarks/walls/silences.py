"""Models that send what says nothing, or say why they end and then stay on the line."""

import asyncio
from random import Random

from benchmarks.upstream import LAST, frame, http_chunk, usage_frame
from benchmarks.walls.model_wire import CHUNKED, DONE, ENDLESS_SECONDS, HEAD, Parts, Way

STAYS_SECONDS = 30.0  # longer than anybody has to wait for a model that has said why it ended
_ERROR = b'data: {"error": {"message": "No more.", "code": 500}}\n\n'
_REFUSED = b"HTTP/1.1 %d Wrong\r\nContent-Type: application/json\r\n"


async def _blank_lines(size: int, random: Random) -> Parts:
    """Lines without a word, for a while or until so many bytes have gone."""
    blank = random.choice((b"\n", b"\r\n", b"\r", b" \n", b":\n", b"\n" * 1000))
    piece = http_chunk(blank * (4096 // len(blank)))
    yield HEAD + CHUNKED + frame({"content": "Some text."})
    for _ in range(size // 4096):
        yield piece
    yield frame({}, finish="stop") + DONE + LAST


async def _blank_for_ever(size: int, random: Random) -> Parts:
    """One blank line after the other, at the pace of somebody who lives."""
    yield HEAD + CHUNKED
    end = asyncio.get_running_loop().time() + ENDLESS_SECONDS
    while asyncio.get_running_loop().time() < end:
        yield http_chunk(b"\n" * random.randint(1, 100_000))


async def _stays_after_its_end(size: int, random: Random) -> Parts:
    """Says why it ended, in one of the ways there are, and neither goes on nor hangs up."""
    text = frame({"content": "x" * size})
    yield HEAD + CHUNKED + text
    yield random.choice(
        (
            frame({}, finish=random.choice(("stop", "length", "content_filter"))),
            frame({}, finish="stop") + usage_frame(3),
            DONE,
            frame({}, finish="stop") + DONE,
            http_chunk(_ERROR),
        )
    )
    await asyncio.sleep(STAYS_SECONDS)


async def _stays_in_its_error(size: int, random: Random) -> Parts:
    """An error whose body does not come to its end."""
    head = _REFUSED % random.choice((400, 401, 429, 500, 503))
    begun = b'{"error": {"message": "' + b"x" * size
    if random.random() < 0.5:
        yield head + b"Content-Length: %d\r\n\r\n" % (len(begun) + 1000) + begun
    else:
        yield head + CHUNKED + http_chunk(begun)
    await asyncio.sleep(STAYS_SECONDS)


async def _stays_in_its_head(size: int, random: Random) -> Parts:
    """A head that does not come to its end."""
    yield HEAD[: random.randint(1, len(HEAD))]
    await asyncio.sleep(STAYS_SECONDS)


SILENCES: dict[str, Way] = {
    way.__name__.removeprefix("_"): way
    for way in (
        *(_blank_lines, _blank_for_ever),
        *(_stays_after_its_end, _stays_in_its_error, _stays_in_its_head),
    )
}
