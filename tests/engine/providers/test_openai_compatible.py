"""Servers that speak the API of OpenAI, with all their quirks."""

import asyncio
from contextlib import aclosing
import gzip
import json

import pytest

from copilot_admin.engine.llm import data_lines, provider_bodies
from copilot_admin.engine.llm.data_lines import DataLines
from copilot_admin.engine.llm.provider_sessions import connection_for
from copilot_admin.engine.providers import openai_compatible
from copilot_admin.engine.providers.openai_compatible import OpenAICompatible
from copilot_admin.engine.values.model_call import (
    ALIVE,
    Alive,
    Delta,
    Finish,
    ModelCall,
    ModelMessage,
    ModelRole,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    Usage,
    UsageSource,
)
from copilot_admin.engine.values.spec import ProviderSpec
from copilot_admin.errors import (
    LimitReached,
    NotReady,
    ProviderBroke,
    ProviderBusy,
    ProviderRefused,
    ProviderUnavailable,
    RunError,
)
from tests.engine.providers.upstream import SSE, finish_chunk, serving, text_chunk
from tests.waiting import HANGS_SECONDS

CALL = ModelCall(model="small", messages=(ModelMessage(role=ModelRole.USER, text="Hi"),))
USAGE = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}
COUNTED = Usage(input_tokens=9, output_tokens=2)


async def deltas_of(provider, *, read=None):
    """All deltas; the event, if any, is set at each."""
    found = []
    async with aclosing(provider.stream(CALL)) as deltas:
        async for delta in deltas:
            found.append(delta)
            if read is not None:
                read.set()
    return found


def streamed(handler, *, key="sk-test"):
    """What the provider makes of a server; texts are joined, since a network cuts as it likes."""

    async def run():
        async with serving(handler) as server:
            return await deltas_of(server.provider(key=key), read=server.read), server

    deltas, server = asyncio.run(run())
    return joined(deltas), server


def joined(deltas):
    found: list[Delta | Alive] = []
    for delta in deltas:
        if isinstance(delta, TextDelta) and found and isinstance(found[-1], TextDelta):
            found[-1] = TextDelta(found[-1].text + delta.text)
        else:
            found.append(delta)
    return found


def failed(handler, *, key="sk-test"):
    """The error that the provider makes of a server, and the deltas before it."""

    async def run():
        seen = []
        async with serving(handler) as server:
            with pytest.raises(RunError) as caught:
                async for delta in server.provider(key=key).stream(CALL):
                    seen.append(delta)
                    server.read.set()
            return caught.value, seen

    return asyncio.run(run())


def refusing(status, body, **headers):
    async def handler(request, reply):
        await reply.start(status, type="application/json", **headers)
        await reply.send(json.dumps(body).encode())
        await reply.end()

    return handler


async def hello(request, reply):
    await reply.start()
    await reply.events(text_chunk("Hel"), text_chunk("lo"))
    await reply.events(finish_chunk(), USAGE, "[DONE]")
    await reply.end()


def test_answer_is_streamed_with_usage_and_finish():
    deltas, server = streamed(hello)
    assert deltas == [TextDelta("Hello"), COUNTED, Finish("stop")]
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == "Bearer sk-test"
    assert request.json == {
        "model": "small",
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_chunks_of_one_read_are_one_delta():
    async def handler(request, reply):
        await reply.start()
        await reply.events(*map(text_chunk, "abcdef"), finish_chunk(), "[DONE]")
        await reply.end()

    async def run():
        async with serving(handler) as server:
            return await deltas_of(server.provider(), read=server.read)

    assert asyncio.run(run())[0] == TextDelta("abcdef")


def test_words_that_follow_the_first_are_read_at_a_tick(monkeypatch):
    asked, tick = asyncio.Event(), asyncio.Event()

    class Held:
        async def wait(self, loop):
            asked.set()
            await tick.wait()

    monkeypatch.setattr(openai_compatible, "_READING", Held())

    async def handler(request, reply):
        await reply.start()
        await reply.events({"choices": [{"delta": {"role": "assistant", "content": ""}}]})
        await reply.events(text_chunk("first"))
        await asked.wait()
        for word in (" second", " third"):
            await reply.events(text_chunk(word))
            for _ in range(10):  # turns of the loop in which a reader would have read
                await asyncio.sleep(0)
        tick.set()
        await reply.events(finish_chunk(), "[DONE]")
        await reply.end()

    async def run():
        async with serving(handler) as server:
            return await deltas_of(server.provider(), read=server.read)

    deltas = [delta for delta in asyncio.run(run()) if isinstance(delta, TextDelta)]
    assert deltas == [TextDelta("first"), TextDelta(" second third")]


class Counted:
    """Counts who waits, and keeps nobody."""

    def __init__(self):
        self.waited = 0

    async def wait(self, loop):
        self.waited += 1


@pytest.mark.parametrize(
    ("sent", "waits"),
    [
        (b": alive\n", {0}),
        (b": alive\n" * 1000, {1, 2}),
        (b": alive\n" * 20_000, set(range(5, 100))),
        (b"data: {" + b" " * 300_000 + b"}\n\n", {1, 2}),
    ],
    ids=["a sign of life", "a thousand of them", "a flood of them", "a long event"],
)
def test_before_the_first_words_much_is_read_at_ticks_and_the_middle_of_an_event_is_not(
    sent, waits, monkeypatch
):
    counted = Counted()
    monkeypatch.setattr(openai_compatible, "_READING", counted)

    async def handler(request, reply):
        await reply.start()
        await reply.send(sent)
        await reply.end()

    async def run():
        async with serving(handler) as server:
            with pytest.raises(RunError):
                await deltas_of(server.provider())

    asyncio.run(run())
    assert counted.waited in waits


@pytest.mark.parametrize(
    ("type_", "sent", "takes_turns"),
    [
        ("text/event-stream", b"data: {}\n\n" * 100, False),
        ("text/event-stream", b"data: {}\n\n" * 1000, True),
        ("text/event-stream", b"data: {" + b" " * 300_000 + b"}\n\n", True),
        ("application/json", b'{"choices": []}' + b" " * 3_000, False),
        ("application/json", b'{"choices": []}' + b" " * 300_000, True),
    ],
    ids=["few events", "many", "a long one", "a short body", "a long body"],
)
def test_what_takes_long_to_read_takes_turns_with_that_of_others(
    type_, sent, takes_turns, monkeypatch
):
    counted = Counted()
    monkeypatch.setattr(openai_compatible, "_LONG_READING", counted)

    async def handler(request, reply):
        await reply.start(type=type_)
        await reply.send(sent)
        await reply.end()

    async def run():
        async with serving(handler) as server:
            with pytest.raises(RunError):
                await deltas_of(server.provider())

    asyncio.run(run())
    assert bool(counted.waited) is takes_turns


def test_of_a_flood_of_tiny_chunks_some_hundred_are_read_at_once(monkeypatch):
    blocks = []

    class Noted(openai_compatible.EitherForm):
        def feed(self, block):
            blocks.append(len(block))
            return super().feed(block)

    monkeypatch.setattr(openai_compatible, "EitherForm", Noted)

    async def handler(request, reply):
        await reply.start()
        await reply.raw(b"1\r\n\n\r\n" * 20_000)
        await reply.end()

    async def run():
        async with serving(handler) as server:
            with pytest.raises(RunError):
                await deltas_of(server.provider())

    asyncio.run(run())
    assert sum(blocks) == 20_000
    assert max(blocks) < 2100


def test_every_byte_in_a_packet_of_its_own():
    async def handler(request, reply):
        await reply.start()
        body = 'data: {"choices":[{"delta":{"content":"naïve 😀"}}]}\r\n\r\ndata: [DONE]\r\n\r\n'
        for byte in body.encode():
            await reply.send(bytes([byte]))
            await asyncio.sleep(0)
        await reply.end()

    deltas, _ = streamed(handler)
    assert [deltas[0], deltas[-1]] == [TextDelta("naïve 😀"), Finish("stop")]


def test_tool_call_in_fragments_and_thoughts():
    def fragment(**function):
        call = {"index": 0, "function": function}
        return {"choices": [{"delta": {"tool_calls": [call]}}]}

    async def handler(request, reply):
        await reply.start()
        await reply.events({"choices": [{"delta": {"reasoning_content": "hm"}}]})
        await reply.was_read()
        await reply.events(fragment(name="ta"), fragment(name="ble", arguments='{"a"'))
        await reply.was_read()
        await reply.events(fragment(arguments=": 1}"), finish_chunk("tool_calls"), USAGE)
        await reply.end()

    deltas, _ = streamed(handler)
    assert ALIVE in deltas
    assert [delta for delta in deltas if delta is not ALIVE] == [
        ReasoningDelta("hm"),
        ToolCall(id="made00000", name="table", arguments='{"a": 1}'),
        COUNTED,
        Finish("tool_calls"),
    ]


def test_server_that_does_not_stream_is_understood():
    async def handler(request, reply):
        await reply.start(type="application/json; charset=utf-8")
        answer = {"message": {"content": "Hi"}, "finish_reason": "stop"}
        body = {**USAGE, "choices": [answer]}
        await reply.send(json.dumps(body).encode())
        await reply.end()

    deltas, _ = streamed(handler)
    assert deltas == [TextDelta("Hi"), COUNTED, Finish("stop")]


@pytest.mark.parametrize("type_", ["application/json", SSE, "text/plain", "application/x-ndjson"])
def test_what_comes_is_read_in_its_own_form_whatever_it_is_called(type_):
    whole = {"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}
    events = f"data: {json.dumps(text_chunk('Hello'))}\n\ndata: [DONE]\n\n"
    for body in (json.dumps(whole), events):

        async def handler(request, reply, body=body):
            await reply.start(type=type_)
            await reply.send(body.encode())
            await reply.end()

        deltas, _ = streamed(handler)
        assert (deltas[0], deltas[-1]) == (TextDelta("Hello"), Finish("stop"))

    async def refuse(request, reply):
        await reply.start(type=type_)
        await reply.send(b'{"error": {"message": "no such model", "code": 404}}')
        await reply.end()

    assert isinstance(failed(refuse)[0], ProviderRefused)


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


def test_nobody_listening_is_unavailable_and_says_what_to_do():
    async def run():
        provider = OpenAICompatible(
            ProviderSpec(name="local", kind="x", base_url="http://127.0.0.1:1/v1")
        )
        with pytest.raises(ProviderUnavailable) as caught:
            await deltas_of(provider)
        await OpenAICompatible.aclose_shared()
        return caught.value

    error = asyncio.run(run())
    assert error.public == (
        "The provider 'local' could not be reached. Ask again in a moment; if it stays so, "
        "whoever manages this copilot should check that the model server runs."
    )
    assert "Connect call failed" in error.detail


@pytest.mark.parametrize(
    "url",
    [
        "ftp://x/v1",
        "http://169.254.169.254/v1",
        "http://2852039166/",
        "http://a b/",
        "http://a\tb/",
        "http://[v1.x]/",
        "http://é..b/",
        "http://127..0.0.1/",
    ],
)
def test_addresses_that_cannot_be_asked_are_not(url):
    async def run():
        provider = OpenAICompatible(ProviderSpec(name="local", kind="x", base_url=url))
        with pytest.raises(NotReady):
            await deltas_of(provider)
        await OpenAICompatible.aclose_shared()

    asyncio.run(run())


def test_host_name_that_leads_to_a_metadata_address_is_not_connected_to(monkeypatch):
    async def resolved(self, host, port=0, family=0):
        return [
            {
                "hostname": host,
                "host": "169.254.169.254",
                "port": port,
                "family": 2,
                "proto": 6,
                "flags": 0,
            }
        ]

    monkeypatch.setattr("copilot_admin.engine.fetching.names.Names.resolve", resolved)

    async def run():
        provider = OpenAICompatible(
            ProviderSpec(name="local", kind="x", base_url="http://models.example.com/v1")
        )
        with pytest.raises(NotReady, match="link-local or metadata"):
            await deltas_of(provider)
        await OpenAICompatible.aclose_shared()

    asyncio.run(run())


@pytest.mark.parametrize("key", ["sk one", "sk-é", "sk\x00"])
def test_key_that_is_none_is_not_sent_and_not_repeated(key):
    async def run():
        with pytest.raises(NotReady) as caught:
            await deltas_of(OpenAICompatible(ProviderSpec(name="local", kind="x", api_key=key)))
        return caught.value

    assert key not in str(asyncio.run(run()))


def test_without_a_key_there_is_no_authorization_and_nothing_of_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-environment")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-environment")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    _, server = streamed(hello, key=" ")
    (request,) = server.requests
    assert "authorization" not in request.headers
    assert not [value for value in request.headers.values() if "environment" in value]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ProviderRefused),
        (401, ProviderRefused),
        (403, ProviderRefused),
        (404, ProviderRefused),
        (429, ProviderBusy),
        (500, ProviderUnavailable),
        (503, ProviderUnavailable),
    ],
)
def test_refusals_are_translated_without_the_key(status, kind):
    body = {"error": {"message": "Incorrect API key provided: sk-test", "code": None}}
    error, seen = failed(refusing(status, body, Retry_After="7"))
    assert (type(error), seen) == (kind, [])
    assert "sk-test" not in f"{error} {error.public} {error.detail} {error!r}"
    assert "Incorrect API key provided: [key]" in error.detail
    assert error.retry_after == (7 if error.retryable else None)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "Invalid content type. image_url is only supported by certain models."),
        (404, "No endpoints found that support image input"),
        (500, "image input is not supported - hint: you may need to provide the mmproj"),
        (400, "llama is not a multimodal model"),
    ],
)
def test_a_model_that_does_not_take_images_is_named_as_the_reason(status, message):
    error, _ = failed(refusing(status, {"error": {"message": message}}))
    assert type(error) is ProviderRefused
    assert error.public == (
        "The model of the provider 'local' did not take the images of this question. Whoever "
        "manages this copilot should choose one that can see, or switch “Look at images” off."
    )


def test_redirect_is_not_followed_with_the_key():
    error, _ = failed(refusing(307, {}, Location="https://elsewhere.example.com/v1"))
    assert "sends requests on to another address" in error.public


def test_server_that_knows_no_usage_option_is_asked_without_and_only_once_in_vain():
    async def handler(request, reply):
        if "stream_options" in request.json:
            body = {"detail": [{"loc": ["body", "stream_options"], "msg": "extra forbidden"}]}
            await refusing(400, body)(request, reply)
        else:
            await hello(request, reply)

    async def run():
        async with serving(handler) as server:
            first = await deltas_of(server.provider(), read=server.read)
            second = await deltas_of(server.provider(), read=server.read)
            return first, second, len(server.requests)

    first, second, requests = asyncio.run(run())
    assert (joined(first), joined(second), requests) == (
        [TextDelta("Hello"), COUNTED, Finish("stop")],
        [TextDelta("Hello"), COUNTED, Finish("stop")],
        3,
    )


def test_other_bad_requests_are_not_sent_twice():
    error, _ = failed(refusing(400, {"error": {"message": "temperature is too high"}}))
    assert isinstance(error, ProviderRefused)


@pytest.mark.parametrize(
    ("error_object", "kind"),
    [
        ({"message": "slow down", "code": 429}, ProviderBusy),
        ({"message": "slow down", "type": "rate_limit_error"}, ProviderBusy),
        ({"message": "overloaded", "type": "overloaded_error"}, ProviderUnavailable),
        ({"message": "no credit", "code": "insufficient_quota"}, ProviderRefused),
        ({"message": "boom", "code": 42}, ProviderBroke),
        ({"message": "slow down", "code": "429"}, ProviderBusy),
        ({"message": "boom", "type": ["rate_limit"], "code": {"a": 1}}, ProviderBroke),
        ("boom", ProviderBroke),
        (["boom"], ProviderBroke),
        ({"error": {"message": "boom"}}, ProviderBroke),
        (json.loads('{"a":' * 900 + "1" + "}" * 900), ProviderBroke),
    ],
)
def test_error_in_the_stream_before_any_words(error_object, kind):
    async def handler(request, reply):
        await reply.start()
        await reply.events({"error": error_object})
        await reply.end()

    error, seen = failed(handler)
    assert (type(error), seen) == (kind, [])


def test_error_in_the_stream_after_words_is_final():
    async def handler(request, reply):
        await reply.start()
        await reply.events(text_chunk("Half"))
        await reply.was_read()
        await reply.events({"error": {"message": "sk-test is overloaded", "code": 503}})
        await reply.end()

    error, seen = failed(handler)
    assert (type(error), seen) == (ProviderBroke, [TextDelta("Half")])
    assert error.public == ("The provider 'local' reported an error while it answered. Ask again.")
    assert "sk-test" not in error.detail


@pytest.mark.parametrize(
    "last",
    [
        {"error": {"message": "overloaded", "code": 503}},
        "not json",
        "x" * (1024 * 1024 + 1),
    ],
)
def test_words_that_come_in_one_read_with_an_error_are_kept(last):
    async def handler(request, reply):
        await reply.start()
        await reply.events(text_chunk("Half"), last)
        await reply.left.wait()

    error, seen = failed(handler)
    words = [delta for delta in seen if delta is not ALIVE]
    assert (type(error), words) == (ProviderBroke, [TextDelta("Half")])


def test_too_many_calls_end_the_answer_behind_its_words():
    def called(number):
        call = {"index": number, "function": {"name": "table", "arguments": "{}"}}
        return {"choices": [{"delta": {"tool_calls": [call]}}]}

    async def handler(request, reply):
        await reply.start()
        await reply.events(text_chunk("I will."), *map(called, range(129)), finish_chunk())
        await reply.end()

    error, seen = failed(handler)
    assert (type(error), seen) == (LimitReached, [TextDelta("I will.")])
    assert error.public == (
        "The model called more than 128 tools in one answer, so the answer was ended. Ask for less "
        "at once."
    )


@pytest.mark.parametrize(
    ("type_", "body"),
    [
        ("text/html; charset=utf-8", b"Sign in"),
        ("Application/XHTML+XML", b""),
        ("text/event-stream", b"\n <!DOCTYPE html><title>Sign in</title>"),
        ("text/event-stream", b"data: <html>\n\n"),
        ("text/plain", b"<html>\n" * 100_000),
        ("application/json", b"<html></html>"),
    ],
)
def test_web_page_is_named_as_what_it_is(type_, body):
    async def handler(request, reply):
        await reply.start(type=type_)
        if body:
            await reply.send(body)
        await reply.end()

    error, seen = failed(handler)
    assert (type(error), seen) == (ProviderBroke, [])
    assert error.public == (
        "The provider answered with a web page, not with an answer of a model. Whoever manages "
        "this copilot should check the provider's address: it often ends in /v1."
    )


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
            await reply.send(garbage)

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
    monkeypatch.setattr(data_lines, "MAX_STREAM_BYTES", 2 * 1024 * 1024)
    packed = gzip.compress(piece * (3 * 1024 * 1024 // len(piece)))

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


def test_compressed_stream_is_read_all_the_same():
    async def handler(request, reply):
        assert request.headers["accept-encoding"] == "identity"
        await reply.start(Content_Encoding="gzip")
        body = f"data: {json.dumps(text_chunk('Hi'))}\n\ndata: [DONE]\n\n"
        await reply.send(gzip.compress(body.encode()))
        await reply.end()

    deltas, _ = streamed(handler)
    assert deltas[0] == TextDelta("Hi")


def test_closed_stream_hangs_up_on_the_server():
    async def run():
        hung_up = asyncio.Event()

        async def handler(request, reply):
            await reply.start()
            await reply.events(text_chunk("one"))
            await reply.left.wait()
            hung_up.set()

        async with serving(handler) as server:
            async with aclosing(server.provider().stream(CALL)) as deltas:
                assert await anext(deltas) == TextDelta("one")
            async with asyncio.timeout(HANGS_SECONDS):
                await hung_up.wait()

    asyncio.run(run())


@pytest.mark.parametrize("words", [0, 1])
def test_cancelled_stream_hangs_up_too(words):
    async def run():
        left = asyncio.Event()

        async def handler(request, reply):
            if words:
                await reply.start()
                await reply.events(text_chunk("one"))
            asked.set()
            await reply.left.wait()
            left.set()

        asked = asyncio.Event()
        async with serving(handler) as server:
            task = asyncio.ensure_future(deltas_of(server.provider(), read=server.read))
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            async with asyncio.timeout(HANGS_SECONDS):
                await left.wait()

    asyncio.run(run())


def test_connection_is_used_again_after_a_whole_answer(monkeypatch):
    monkeypatch.setattr(openai_compatible, "_DRAIN_SECONDS", 5)

    async def run():
        async with serving(hello) as server:
            for _ in range(3):
                await deltas_of(server.provider(), read=server.read)
            return len(server.requests), server.connections

    assert asyncio.run(run()) == (3, 1)


def test_server_that_keeps_the_connection_open_after_done_does_not_delay_the_end():
    async def handler(request, reply):
        await reply.start()
        await reply.events(text_chunk("Hi"), "[DONE]")
        await reply.was_read()
        await reply.send(b": late\n\n")
        await reply.left.wait()

    async def run():
        async with serving(handler) as server, asyncio.timeout(HANGS_SECONDS):
            return await deltas_of(server.provider(), read=server.read)

    assert asyncio.run(run())[-1] == Finish("stop")


def test_one_client_for_each_loop_address_and_key():
    async def run():
        one = await connection_for(base_url="http://a", api_key="k")
        same = await connection_for(base_url="http://a", api_key="k")
        other = await connection_for(base_url="http://a", api_key="l")
        await OpenAICompatible.aclose_shared()
        await OpenAICompatible.aclose_shared()
        return one is same, one is other, one

    same, other, first = asyncio.run(run())
    assert (same, other) == (True, False)
    assert asyncio.run(run())[2] is not first


def test_clients_of_a_loop_that_ends_are_closed_with_it():
    async def run():
        session = (await connection_for(base_url="http://a", api_key="k")).session
        assert not session.closed
        return session

    assert asyncio.run(run()).closed


@pytest.mark.parametrize(
    "body",
    [
        {"data": [{"id": "b"}, {"id": "a"}, {"id": 7}, "x", {"id": "a"}]},
        {"models": [{"name": "a"}, {"name": "b"}]},
        [{"id": "a"}, {"id": "b"}],
        [{"id": one} for one in ("a", "b", "x" * 201, "a\x00", "a\nb", "\u202eb")],
    ],
)
def test_models_are_listed_in_order(body):
    async def handler(request, reply):
        assert (request.method, request.path) == ("GET", "/v1/models")
        await refusing(200, body)(request, reply)

    async def run():
        async with serving(handler) as server:
            return await server.provider().models()

    assert asyncio.run(run()) == ("a", "b")


@pytest.mark.parametrize(
    "odd", [rb'{"id": "x\ud83d"}', b'{"id": "b", "price": NaN}', b'{"id": "b", "by": "\xff"}']
)
def test_one_model_that_is_oddly_written_takes_the_others_not_away(odd):
    async def handler(request, reply):
        await reply.start()
        await reply.send(b'{"data": [{"id": "b"}, %b, {"id": "a"}]}' % odd)
        await reply.end()

    async def run():
        async with serving(handler) as server:
            return await server.provider().models()

    assert asyncio.run(run()) == ("a", "b")


@pytest.mark.parametrize(
    "body",
    [
        b"[%b{}]" % (b"{}," * 100_000),
        b"[%b1]" % (b"1," * 1_000_000),
        json.dumps([{"id": f"m{number}"} for number in range(10_001)]).encode(),
    ],
    ids=["objects", "numbers", "models"],
)
def test_a_list_of_very_many_models_is_not_read(body):
    async def handler(request, reply):
        await reply.start()
        await reply.send(body)
        await reply.end()

    async def run():
        async with serving(handler) as server:
            with pytest.raises(ProviderBroke, match="more models than can be read"):
                await server.provider().models()

    asyncio.run(run())


@pytest.mark.parametrize("body", [b"<html>", b"{}", b"7", b"[" * 5000])
def test_address_that_lists_no_models_is_explained(body):
    async def handler(request, reply):
        await reply.start(type="text/html")
        await reply.send(body)
        await reply.end()

    async def run():
        async with serving(handler) as server:
            with pytest.raises(ProviderBroke, match="often in /v1"):
                await server.provider().models()

    asyncio.run(run())


def test_models_of_a_silent_or_refusing_server():
    async def silent(request, reply):
        await reply.left.wait()

    async def run(handler, kind, **timeouts):
        async with serving(handler) as server:
            with pytest.raises(kind):
                await server.provider(**timeouts).models()

    asyncio.run(run(silent, ProviderUnavailable, first_token=0.05))
    asyncio.run(run(refusing(401, {}), ProviderRefused))


def test_models_that_are_refused_say_why():
    async def run():
        async with serving(refusing(401, '{"error": {"message": "no such key"}}')) as server:
            with pytest.raises(ProviderRefused) as refused:
                await server.provider().models()
            return refused.value

    assert "no such key" in asyncio.run(run()).detail


WHOLE = {"choices": [{"index": 0, "message": {"content": "Whole"}, "finish_reason": "stop"}]}
HEAD_WITHOUT_END = b"HTTP/1.1 200 X\r\nContent-Type: %s\r\n\r\n"


def body_without_end(body, *, kind=b"text/event-stream"):
    """A server that neither says how long its body is nor closes the connection behind it."""

    async def handler(request, reply):
        await reply.raw(HEAD_WITHOUT_END % kind + body)
        await reply.left.wait()

    return handler


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


def test_models_are_listed_although_nothing_says_that_the_list_ends(monkeypatch):
    monkeypatch.setattr(openai_compatible, "_LAST_WORDS_SECONDS", 0.05)
    handler = body_without_end(b'{"data": [{"id": "small"}]}', kind=b"application/json")

    async def run():
        async with serving(handler) as server, asyncio.timeout(HANGS_SECONDS):
            return await server.provider().models()

    assert asyncio.run(run()) == ("small",)
