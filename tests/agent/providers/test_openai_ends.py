"""How an answer of an OpenAI-compatible server ends: well, cut, broken, or without a word that it has."""

import asyncio
import gzip
import json

import pytest

from copilot_admin.agent.llm import data_lines, provider_bodies
from copilot_admin.agent.llm.data_lines import DataLines
from copilot_admin.agent.providers import openai_compatible
from copilot_admin.agent.values.model_call import (
    ALIVE,
    Finish,
    TextDelta,
    Usage,
    UsageSource,
)
from copilot_admin.errors import (
    ProviderBroke,
    ProviderRefused,
    ProviderUnavailable,
)
from tests.agent.providers.openai_asking import (
    COUNTED,
    USAGE,
    body_without_end,
    deltas_of,
    failed,
    joined,
    streamed,
)
from tests.agent.providers.upstream import finish_chunk, serving, text_chunk
from tests.polling import HANGS_SECONDS


def test_stream_that_just_ends_is_not_complete():
    async def handler(request, reply):
        await reply.start()
        await reply.events(text_chunk("Half"))
        await reply.end()

    deltas, _ = streamed(handler)
    assert deltas == [
        TextDelta("Half"),
        Usage(input_tokens=1, output_tokens=1, source=UsageSource.ESTIMATED),
        Finish(None),
    ]


def test_connection_that_breaks_after_words_leaves_a_cut_answer():
    async def handler(request, reply):
        await reply.start()
        await reply.events(text_chunk("Half"))
        await reply.was_read()
        reply.cut()

    deltas, _ = streamed(handler)
    assert [deltas[0], deltas[-1]] == [TextDelta("Half"), Finish(None)]


async def cut(reply):
    reply.cut()


async def without_framing(reply):
    await reply.raw(b"no length\r\n")
    await reply.left.wait()


@pytest.mark.parametrize("breaks", [cut, without_framing])
def test_words_that_came_right_before_a_connection_broke_are_read(breaks):
    async def handler(request, reply):
        await reply.start()
        await reply.events(text_chunk("Nearly "))
        await reply.was_read()
        await reply.events(text_chunk("the "))
        await reply.events(text_chunk("whole"))
        await breaks(reply)

    deltas, _ = streamed(handler)
    assert [deltas[0], deltas[-1]] == [TextDelta("Nearly the whole"), Finish(None)]


@pytest.mark.parametrize("half", [b'data: {"choices": [{"del', b"da", b"data: {}\ndata: x"])
def test_body_that_ends_amid_an_event_leaves_a_cut_answer(half):
    async def handler(request, reply):
        await reply.start()
        await reply.events(text_chunk("Half"))
        await reply.send(half)
        await reply.end()

    deltas, _ = streamed(handler)
    assert [deltas[0], deltas[-1]] == [TextDelta("Half"), Finish(None)]


async def ended(reply):
    await reply.end()


@pytest.mark.parametrize("breaks", [cut, without_framing, ended])
@pytest.mark.parametrize(
    "half", [b'data: {"choices": [{"del', b'data: {"error": {"mess', b"data:{"]
)
def test_body_that_ends_amid_its_first_event_broke_off_and_is_asked_again(breaks, half):
    async def handler(request, reply):
        await reply.start()
        await reply.send(half)
        await breaks(reply)

    error, seen = failed(handler)
    assert (type(error), seen) == (ProviderUnavailable, [])
    assert error.public.startswith("The model's provider broke off before its answer began.")


def test_connection_that_breaks_after_the_finish_loses_nothing():
    async def handler(request, reply):
        await reply.start()
        await reply.events(text_chunk("Whole"), finish_chunk())
        await reply.was_read()
        reply.cut()

    deltas, _ = streamed(handler)
    assert [deltas[0], deltas[-1]] == [TextDelta("Whole"), Finish("stop")]


async def silent(reply):
    await reply.left.wait()


async def sighing(reply):
    while not reply.left.is_set():
        await reply.send(b": alive\n\n")
        await asyncio.sleep(0)


@pytest.mark.parametrize("goes_on", [silent, sighing])
@pytest.mark.parametrize("late", [(), (USAGE,)], ids=["at once", "after the tokens"])
def test_server_that_says_no_more_after_the_finish_is_not_waited_for(late, goes_on, monkeypatch):
    monkeypatch.setattr(openai_compatible, "_LAST_WORDS_SECONDS", 0.05)

    async def handler(request, reply):
        await reply.start()
        await reply.events(text_chunk("Whole"), finish_chunk())
        await reply.was_read()
        if late:
            await reply.events(*late)
        await goes_on(reply)

    async def run():
        async with serving(handler) as server, asyncio.timeout(HANGS_SECONDS):
            return await deltas_of(server.provider(), read=server.read)

    estimated = Usage(input_tokens=1, output_tokens=2, source=UsageSource.ESTIMATED)
    counted = COUNTED if late else estimated
    deltas = [delta for delta in asyncio.run(run()) if delta is not ALIVE]
    assert deltas == [TextDelta("Whole"), counted, Finish("stop")]


@pytest.mark.parametrize("head", [True, False])
def test_connection_that_breaks_before_words_may_be_tried_again(head):
    async def handler(request, reply):
        if head:
            await reply.start()
        reply.cut()

    error, seen = failed(handler)
    assert (type(error), seen) == (ProviderUnavailable, [])


def test_response_that_is_no_http_is_unavailable():
    async def handler(request, reply):
        await reply.raw(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
        reply.cut()

    error, _ = failed(handler)
    assert isinstance(error, ProviderUnavailable)


@pytest.mark.parametrize("payloads", [("[DONE]",), (), ({"choices": {"delta": 1}}, "[DONE]")])
def test_immediate_end_is_no_answer(payloads):
    async def handler(request, reply):
        await reply.start()
        if payloads:
            await reply.events(*payloads)
        await reply.end()

    error, seen = failed(handler)
    assert (type(error), seen) == (ProviderBroke, [])
    assert "ended its answer before it began" in error.public


def test_what_follows_the_end_of_an_answer_is_not_looked_at():
    async def handler(request, reply):
        await reply.start()
        await reply.events(
            text_chunk("Hi"), finish_chunk(), "[DONE]", {"error": "late"}, "x" * (2**20 + 1)
        )
        await reply.end()

    deltas, _ = streamed(handler)
    assert [deltas[0], deltas[-1]] == [TextDelta("Hi"), Finish("stop")]


@pytest.mark.parametrize("end", [finish_chunk(), "[DONE]"])
@pytest.mark.parametrize(
    "garbage",
    [
        b"x" * 65_536,
        b"data: hello\n\n",
        b"data: " + b"x" * 65_536,
        b"<html>\n",
        b"\n" * 65_536,
        b'data: {"error": "late"}\n\n',
        b'data: {"object": "error", "message": "late"}\n\n',
        b"data: " + b"[" * 65_536 + b"\n\n",
    ],
)
def test_endless_garbage_behind_the_end_takes_nothing_from_the_answer(end, garbage, monkeypatch):
    monkeypatch.setattr(data_lines, "MAX_BYTES_WITHOUT_DATA", 128 * 1024)

    async def handler(request, reply):
        await reply.start()
        await reply.events(text_chunk("Whole"), end)
        await reply.was_read()
        while not reply.left.is_set():
            await reply.send(garbage * (1 + 4096 // len(garbage)))

    deltas, _ = streamed(handler)
    told = [delta for delta in deltas if delta is not ALIVE]
    assert [told[0], told[-1]] == [TextDelta("Whole"), Finish("stop")]


def test_calls_without_end_behind_the_end_take_nothing_from_the_answer():
    def called(number):
        call = {"index": number, "function": {"name": "table", "arguments": "{}"}}
        return {"choices": [{"delta": {"tool_calls": [call]}}]}

    async def handler(request, reply):
        await reply.start()
        await reply.events(text_chunk("Whole"), finish_chunk(), *map(called, range(200)))
        await reply.end()

    deltas, _ = streamed(handler)
    assert [deltas[0], deltas[-1]] == [TextDelta("Whole"), Finish("stop")]


@pytest.mark.parametrize(
    ("piece", "said"),
    [
        (b": keep-alive\n\n", "1 MiB of blank lines"),
        (b"\n", "1 MiB of blank lines"),
        (b'data: {"choices": []}\n\n', "more than 256 MiB"),
    ],
)
def test_packed_stream_that_unpacks_to_too_much_is_ended(piece, said, monkeypatch):
    monkeypatch.setattr(data_lines, "MAX_BYTES_WITHOUT_DATA", 128 * 1024)
    monkeypatch.setattr(data_lines, "MAX_STREAM_BYTES", 256 * 1024)
    packed = gzip.compress(piece * (384 * 1024 // len(piece)))

    async def handler(request, reply):
        await reply.start(Content_Encoding="gzip")
        await reply.send(packed)
        await reply.left.wait()

    error, seen = failed(handler)
    assert (type(error), seen) == (ProviderBroke, [])
    assert said in error.public


def test_bytes_behind_the_end_of_a_packed_stream_are_not_read_for_ever(monkeypatch):
    monkeypatch.setattr(provider_bodies, "MAX_STREAM_BYTES", 64 * 1024)

    async def handler(request, reply):
        await reply.start(Content_Encoding="gzip")
        await reply.send(gzip.compress(b": hello\n\n"))
        while not reply.left.is_set():
            await reply.send(b"x" * 4096)

    error, seen = failed(handler)
    assert (type(error), seen) == (ProviderBroke, [])


WHOLE = {"choices": [{"index": 0, "message": {"content": "Whole"}, "finish_reason": "stop"}]}


UNENDED = {
    "a document": json.dumps(WHOLE).encode(),
    "a document with signs of other alphabets, and blanks": json.dumps(WHOLE, ensure_ascii=False)
    .encode()
    .join((b"\xef\xbb\xbf\n", b" \n")),
    "a last event without a blank line": b"data: %s\n" % json.dumps(WHOLE).encode(),
    "a last event without the end of its line": b"data: %s" % json.dumps(WHOLE).encode(),
    "a last event in two lines": b'data: {"choices":\ndata: %s}\n'
    % json.dumps(WHOLE["choices"]).encode(),
    "an end without a blank line": b"data: %s\n\ndata: [DONE]"
    % json.dumps(text_chunk("Whole")).encode(),
}


@pytest.mark.parametrize("body", UNENDED.values(), ids=UNENDED)
def test_what_is_whole_is_read_although_nothing_says_that_it_ends(body, monkeypatch):
    monkeypatch.setattr(openai_compatible, "_SETTLED_SECONDS", 0.05)
    monkeypatch.setattr(openai_compatible, "_LAST_WORDS_SECONDS", 0.05)

    async def run():
        async with serving(body_without_end(body)) as server, asyncio.timeout(HANGS_SECONDS):
            return await deltas_of(server.provider())

    deltas = joined(delta for delta in asyncio.run(run()) if delta is not ALIVE)
    assert [deltas[0], deltas[-1]] == [TextDelta("Whole"), Finish("stop")]


@pytest.mark.parametrize("body", UNENDED.values(), ids=UNENDED)
def test_what_is_whole_is_read_although_the_connection_breaks_behind_it(body, monkeypatch):
    """Half of a chunk comes with it, so that no end is told; then the connection is closed."""

    async def handler(request, reply):
        await reply.start()
        await reply.raw(b"%x\r\n%b" % (len(body) + 9, body))
        reply.close()

    deltas, _ = streamed(handler)
    said = [delta for delta in deltas if delta is not ALIVE]
    assert [said[0], said[-1]] == [TextDelta("Whole"), Finish("stop")]


@pytest.mark.parametrize("body", [b"", b'{"error": {"message": "Wrong key"'])
def test_a_refusal_whose_connection_breaks_is_told_by_its_status(body):
    async def handler(request, reply):
        await reply.start(401, type="application/json")
        await reply.raw(b"%x\r\n%b" % (len(body) + 9, body))
        reply.close()

    error, seen = failed(handler)
    assert (type(error), seen, error.detail) == (ProviderRefused, [], body.decode())


REFUSED_WITHOUT_END = {
    "a document": b'{"error": {"message": "No such model"}}',
    "an event": b'data: {"error": {"message": "No such model"}}\n',
    "an event that is called an error": b"event: error\ndata: No such model\n",
}


@pytest.mark.parametrize("body", REFUSED_WITHOUT_END.values(), ids=REFUSED_WITHOUT_END)
def test_an_error_is_told_although_nothing_says_that_it_ends(body, monkeypatch):
    monkeypatch.setattr(openai_compatible, "_SETTLED_SECONDS", 0.05)

    error, seen = failed(body_without_end(body))

    assert (type(error), seen) == (ProviderBroke, [])
    assert "No such model" in error.detail


def test_silence_amid_an_event_is_no_sign_of_life_and_takes_nothing_from_it(monkeypatch):
    monkeypatch.setattr(openai_compatible, "_SETTLED_SECONDS", 0.001)
    late, silences = asyncio.Event(), []
    settle = DataLines.settle

    def settled(lines):
        silences.append(lines.held)
        if len(silences) == 3:
            late.set()
        return settle(lines)

    monkeypatch.setattr(DataLines, "settle", settled)

    async def handler(request, reply):
        await reply.start()
        await reply.events(text_chunk("Hel"))
        event = b"data: %s\n\n" % json.dumps(text_chunk("lo")).encode()
        await reply.send(event[:30])
        await late.wait()
        await reply.send(event[30:])
        await reply.events(finish_chunk(), USAGE, "[DONE]")
        await reply.end()

    deltas, _ = streamed(handler)
    said = [delta for delta in deltas if delta is not ALIVE]
    assert len(deltas) - len(said) < len(silences)  # at most one, of the first half
    assert joined(said) == [TextDelta("Hello"), COUNTED, Finish("stop")]
