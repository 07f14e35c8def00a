"""A long request is written as it is sent: in pieces that together are what one call writes."""

import asyncio
from contextlib import aclosing
import json
from sys import getsizeof
import tracemalloc

import pytest

from copilot_admin.agent.llm.chat_request import LONG, request_body
from copilot_admin.agent.llm.long_bodies import PIECE, LongBody, dumped
from copilot_admin.agent.values.model_call import (
    ModelCall,
    ModelImage,
    ModelMessage,
    ModelRole,
    ToolCall,
)
from copilot_admin.errors import ProviderRefused
from tests.agent.providers.upstream import Request, serving

MEGABYTE = 1024 * 1024
BODIES = {
    "nothing": {},
    "values": {"a": [1, 2.5, None, True, [], {}, "x"], "b": {"c": {"d": [{"e": [[["f"]]]}]}}},
    "quotes": {"a": '"' * 3 * PIECE, '"': "\\\n"},
    "texts at the border": {"a": ["x" * size for size in (1024, 1025, PIECE, PIECE + 1)]},
    "wide texts": {"a": "\U0001f600" * 2 * PIECE, "b": "\u5e74" * 2000},
}


async def sent(body: LongBody) -> list[bytes]:
    async with aclosing(body.pieces()) as pieces:
        return [piece async for piece in pieces]


def said(text: str, **more: object) -> ModelCall:
    message = ModelMessage(role=ModelRole.USER, text=text, **more)  # type: ignore[arg-type]
    return ModelCall(model="m", messages=(message,))


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_the_pieces_are_together_what_one_call_writes(body):
    long = LongBody(body)
    pieces = asyncio.run(sent(long))
    assert b"".join(pieces) == dumped(body)
    assert asyncio.run(long.size()) == len(dumped(body))
    assert max(map(len, pieces)) < 64 * 1024 + 6 * PIECE


def test_what_strict_json_does_not_have_is_written_in_pieces_as_well():
    body = {"a": "\ud83d" * 2 * PIECE + "\ude00", "b": 2**70}
    long = LongBody(body)
    whole = b"".join(asyncio.run(sent(long)))
    assert json.loads(whole) == json.loads(json.dumps(body))
    assert asyncio.run(long.size()) == len(whole)


@pytest.mark.parametrize(
    "call",
    [
        said("x" * (LONG + 1)),
        said("", images=(ModelImage(name="a", url="x" * (LONG + 1)),)),
        said("", tool_calls=(ToolCall(id="1", name="t", arguments="x" * (LONG + 1)),)),
    ],
    ids=["text", "image", "call"],
)
def test_what_is_long_is_written_as_it_is_sent(call):
    body = request_body(call, with_usage=True)
    assert isinstance(body, LongBody)
    written = json.loads(b"".join(asyncio.run(sent(body))))
    assert (written["model"], written["stream"]) == ("m", True)
    assert "x" * (LONG + 1) in json.dumps(written["messages"])


def test_what_is_not_is_written_at_once():
    assert isinstance(request_body(said("x" * LONG), with_usage=True), bytes)


@pytest.mark.parametrize("sign", ["x", "\u00e4", "\U0001f600"])
def test_a_long_text_takes_little_beside_itself_while_it_is_sent_and_nothing_afterwards(sign):
    text = sign * 8 * MEGABYTE
    size = getsizeof(text)

    async def taken() -> int:
        tracemalloc.start()
        try:
            async with aclosing(LongBody({"messages": [{"content": text}]}).pieces()) as pieces:
                async for _ in pieces:
                    pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert asyncio.run(taken()) < size // 4
    assert getsizeof(text) == size


def test_others_go_on_while_a_long_text_is_counted_and_sent():
    body = LongBody({"a": "x" * 8 * MEGABYTE})

    async def turns_of_another_meanwhile() -> int:
        turns = 0
        work = asyncio.gather(body.size(), sent(body))
        while not work.done():
            turns += 1
            await asyncio.sleep(0)
        return turns

    assert asyncio.run(turns_of_another_meanwhile()) >= 8 * MEGABYTE // (64 * 1024)


def test_a_model_is_told_how_long_a_long_question_is():
    call = said('"\u00e4' * LONG)

    async def refusing(request, reply):
        await reply.start(401, type="application/json")
        await reply.end()

    async def asked() -> Request:
        async with serving(refusing) as server:
            with pytest.raises(ProviderRefused):
                await anext(aiter(server.provider().stream(call)))
            (request,) = server.requests
            return request

    request = asyncio.run(asked())
    assert request.headers["content-length"] == str(len(request.body))
    assert "transfer-encoding" not in request.headers
    assert request.headers["content-type"] == "application/json"
    assert request.json["messages"] == [{"role": "user", "content": call.messages[0].text}]
