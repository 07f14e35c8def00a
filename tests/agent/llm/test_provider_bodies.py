"""Bodies of providers that are larger than anyone wants to read."""

import asyncio
from contextlib import aclosing
import gzip
import tracemalloc
import zlib

import pytest

from copilot_admin.agent.fetching import packing
from copilot_admin.agent.llm import listed_models
from copilot_admin.agent.llm.provider_bodies import blocks_of
from copilot_admin.agent.providers import openai_compatible
from copilot_admin.agent.values.model_call import ModelCall, ModelMessage, ModelRole
from copilot_admin.errors import ProviderBroke, ProviderRefused, RunError
from tests.agent.providers.upstream import serving

CALL = ModelCall(model="small", messages=(ModelMessage(role=ModelRole.USER, text="Hi"),))
MEGABYTE = 1024 * 1024
ZEROS = bytes(64 * MEGABYTE)


def broken(body: bytes) -> bytes:
    """A body that was packed, with something behind it that cannot be unpacked."""
    packing = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    return packing.compress(body) + packing.flush(zlib.Z_SYNC_FLUSH) + b"\xff\xff"


PACKED = gzip.compress(ZEROS, mtime=0)
BODIES = {
    "plain": ("identity", ZEROS),
    "gzip": ("gzip", PACKED),
    "deflate": ("deflate", zlib.compress(ZEROS)),
    "gzip twice": ("gzip, gzip", gzip.compress(PACKED, mtime=0)),
    "broken": ("gzip", broken(ZEROS)),
    "more after the end": ("gzip", gzip.compress(b"no", mtime=0) + ZEROS),
    "nothing unpacked": ("deflate", b"\x78\x9c" + b"\0\0\0\xff\xff" * (8 * MEGABYTE)),
    "brotli": ("br", ZEROS),
    "zstd": ("zstd", ZEROS),
    "unknown": ("compress", ZEROS),
}
assert len(PACKED) < 100_000


def answering(status, encoding, body):
    async def handler(request, reply):
        await reply.start(status, type="application/json", Content_Encoding=encoding)
        for place in range(0, len(body), MEGABYTE):
            await reply.send(body[place : place + MEGABYTE])
        await reply.end()

    return handler


async def ask(provider):
    async for _ in provider.stream(CALL):
        raise AssertionError


async def list_models(provider):
    await provider.models()


def failed(handler, asked):
    """The error, and the most memory that was taken meanwhile."""

    async def run():
        async with serving(handler) as server:
            provider = server.provider()
            tracemalloc.start()
            try:
                with pytest.raises(RunError) as caught:
                    await asked(provider)
                return caught.value, tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()

    return asyncio.run(run())


@pytest.mark.parametrize("asked", [ask, list_models])
@pytest.mark.parametrize("body", BODIES)
def test_a_huge_refusal_is_read_in_part_and_takes_no_memory(body, asked):
    error, peak = failed(answering(400, *BODIES[body]), asked)
    assert isinstance(error, ProviderRefused)
    assert "refused the request (HTTP 400)" in error.public
    assert peak < 16 * MEGABYTE


@pytest.mark.parametrize("asked", [ask, list_models])
def test_a_refusal_without_end_is_hung_up_on(asked):
    async def run():
        hung_up = asyncio.Event()

        async def handler(request, reply):
            await reply.start(503, type="text/plain")
            try:
                while True:
                    await reply.send(b"x" * MEGABYTE)
            except ConnectionError:
                hung_up.set()

        async with serving(handler) as server:
            with pytest.raises(RunError) as caught:
                await asked(server.provider())
            await hung_up.wait()
        return caught.value

    error = asyncio.run(run())
    assert "a problem of its own (HTTP 503)" in error.public
    assert error.detail == "x" * 500


@pytest.mark.parametrize(
    ("encoding", "body", "said"),
    [
        ("gzip", gzip.compress(b"no such model", mtime=0), "no such model"),
        ("gzip", gzip.compress(b"no such model", mtime=0)[:-4], "no such model"),
        ("gzip", broken(b"no such model"), "no such model"),
        ("gzip", b"no such model", "no such model"),
        (", ".join(["gzip"] * 1200), b"no such model", "no such model"),
        ("identity", "é".encode("latin-1"), "\ufffd"),
        ("identity", b"", ""),
    ],
    ids=["packed", "cut", "broken", "not packed", "in many forms", "no UTF-8", "empty"],
)
def test_a_refusal_is_read_as_far_as_it_goes(encoding, body, said):
    async def handler(request, reply):
        await reply.start(404, type="text/plain", Content_Encoding=encoding)
        if body:
            await reply.send(body)
        await reply.end()

    error, _ = failed(handler, ask)
    assert isinstance(error, ProviderRefused)
    assert error.detail == said


@pytest.mark.parametrize("asked", [ask, list_models])
@pytest.mark.parametrize("begun", [b"", b"bad key"])
def test_a_refusal_that_does_not_come_to_its_end_is_told_all_the_same(begun, asked, monkeypatch):
    monkeypatch.setattr(openai_compatible, "_LAST_WORDS_SECONDS", 0.05)

    async def handler(request, reply):
        await reply.start(401, type="application/json")
        if begun:
            await reply.send(begun)
        await reply.left.wait()

    error, _ = failed(handler, asked)
    assert isinstance(error, ProviderRefused)
    assert "did not accept the key" in error.public


def test_a_refusal_is_read_up_to_64_kilobytes():
    words = b"x" * (64 * 1024 - 17) + b"maximum context"
    cut, _ = failed(answering(400, "identity", words[:-1] + b"x" * 99 + b"maximum context"), ask)
    whole, _ = failed(answering(400, "identity", words), ask)
    assert "refused the request" in cut.public
    assert "too long for the model" in whole.public


@pytest.mark.parametrize("body", ["plain", "gzip", "gzip twice"])
def test_a_huge_list_of_models_is_given_up(body, monkeypatch):
    monkeypatch.setattr(listed_models, "MOST_BYTES", 2 * MEGABYTE)
    error, peak = failed(answering(200, *BODIES[body]), list_models)
    assert isinstance(error, ProviderBroke)
    assert error.public == "The address lists more models than can be read. Enter the model."
    assert peak < 16 * MEGABYTE


class Content:
    """A body that comes in blocks."""

    def __init__(self, *blocks):
        self.left = [b"", *reversed(blocks)]

    async def readany(self):
        return self.left.pop()


class Response:
    """As much of a response as is needed to read its body."""

    connection = None  # all of it has come

    def __init__(self, encoding, *blocks):
        self.headers = {"Content-Encoding": encoding}
        self.content = Content(*blocks)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [("identity", ZEROS[:MEGABYTE]), ("gzip", gzip.compress(ZEROS[:MEGABYTE], mtime=0))],
    ids=["plain", "packed"],
)
def test_a_body_is_handed_on_in_pieces_of_32_kilobytes(encoding, body):
    async def pieces():
        return [piece async for piece in blocks_of(Response(encoding, body), most=MEGABYTE)]

    sizes = [len(piece) for piece in asyncio.run(pieces())]
    assert (sum(sizes), max(sizes)) == (MEGABYTE, 32 * 1024)


def test_others_have_their_turn_between_two_pieces_of_what_is_unpacked():
    done = []

    async def others():
        while True:
            done.append("another")
            await asyncio.sleep(0)

    async def unpack():
        busy = asyncio.ensure_future(others())
        async with aclosing(blocks_of(Response("gzip", PACKED), most=MEGABYTE)) as pieces:
            for _ in range(3):
                done.append(len(await anext(pieces)))
        busy.cancel()

    asyncio.run(unpack())
    assert done == [32 * 1024, "another", 32 * 1024, "another", 32 * 1024]


def body_of(encoding, *blocks):
    async def run():
        return [piece async for piece in blocks_of(Response(encoding, *blocks), most=MEGABYTE)]

    return b"".join(asyncio.run(run()))


def without_head(body):
    packing = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packing.compress(body) + packing.flush()


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"He", mtime=0) + gzip.compress(b"llo", mtime=0)),
        ("x-gzip", b"".join(map(gzip.compress, (b"Hel", b"", b"", b"lo")))),
        ("gzip", gzip.compress(b"Hello", mtime=0) + b"\x1f and more"),
        ("gzip", b"Hello"),
        ("deflate", zlib.compress(b"Hello") + gzip.compress(b" and more", mtime=0)),
        ("deflate", without_head(b"Hello")),
        (
            "gzip, gzip",
            gzip.compress(gzip.compress(b"Hel", mtime=0) + gzip.compress(b"lo", mtime=0)),
        ),
        ("identity, gzip", gzip.compress(b"Hello", mtime=0)),
    ],
    ids=[
        "one behind the other",
        "empty ones",
        "other bytes",
        "not packed",
        "zlib",
        "no head",
        "twice",
        "once",
    ],
)
def test_a_packed_body_is_read_to_its_end_however_it_comes(encoding, body):
    assert body_of(encoding, body) == b"Hello"
    assert body_of(encoding, *(bytes([byte]) for byte in body)) == b"Hello"


def test_of_packed_bodies_one_behind_the_other_so_many_are_read(monkeypatch):
    monkeypatch.setattr(packing, "MOST_PACKAGES", 3)
    assert body_of("gzip", gzip.compress(b"a", mtime=0) * 5) == b"aaa"


def test_others_have_their_turn_while_what_precedes_a_fault_is_looked_for():
    nothing = b"\0\0\0\xff\xff" * 20_000  # empty blocks, which are not packed
    pieces = packing.unpacked(nothing + b"\xff", packing.layers_of("deflate"))
    turns = 0
    with pytest.raises(zlib.error):
        for piece in pieces:
            turns += not piece
    assert turns >= 10


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, br", ", ".join(["gzip"] * 1200)])
def test_an_answer_that_nobody_can_unpack_is_told_as_that(encoding):
    error, _ = failed(answering(200, encoding, b"\x28\xb5\x2f\xfd"), ask)
    assert isinstance(error, ProviderBroke)
    assert "packed in a way that nobody asked for" in error.public
