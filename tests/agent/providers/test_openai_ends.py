"""How an answer of an OpenAI-compatible server ends, and what is told where there is none."""

import asyncio

import pytest

from copilot_admin.agent.providers import openai_compatible
from copilot_admin.agent.values.model_call import Finish, TextDelta, Usage, UsageSource
from copilot_admin.errors import (
    NotReady,
    ProviderBroke,
    ProviderBusy,
    ProviderRefused,
    ProviderUnavailable,
)
from tests import tls
from tests.agent.providers.openai_asking import (
    COUNTED,
    USAGE,
    answering,
    cut,
    ended,
    failed,
    hello,
    refusing,
    silent,
    streamed,
    unreached,
)
from tests.agent.providers.upstream import finish_chunk, text_chunk

HALF, WHOLE = text_chunk("Half"), text_chunk("Whole")


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


@pytest.mark.parametrize(
    ("payloads", "reason"), [([HALF], None), ([WHOLE, finish_chunk()], "stop")]
)
def test_connection_that_breaks_after_words_leaves_what_came(payloads, reason):
    deltas, _ = streamed(answering(*payloads, then=cut))
    assert isinstance(deltas[0], TextDelta)
    assert deltas[-1] == Finish(reason)


@pytest.mark.parametrize("breaks", [cut, ended])
@pytest.mark.parametrize("half", [b'data: {"choices": [{"del', b'data: {"error": {"mess', b""])
def test_body_that_ends_before_any_words_broke_off_and_is_asked_again(breaks, half):
    async def handler(request, reply):
        await reply.start()
        if half:
            await reply.send(half)
        await (breaks if half else cut)(reply)

    error, seen = failed(handler)
    assert (type(error), seen) == (ProviderUnavailable, [])
    assert error.public.startswith("The model's provider broke off before its answer began.")


async def sighing(reply):
    while not reply.left.is_set():
        await reply.send(b": alive\n\n")
        await asyncio.sleep(0)


@pytest.mark.parametrize("goes_on", [silent, sighing])
@pytest.mark.parametrize("late", [(), (USAGE,)], ids=["at once", "after the tokens"])
def test_server_that_says_no_more_after_the_finish_is_not_waited_for(late, goes_on, monkeypatch):
    monkeypatch.setattr(openai_compatible, "_LAST_WORDS_SECONDS", 0.05)
    estimated = Usage(input_tokens=1, output_tokens=2, source=UsageSource.ESTIMATED)
    deltas, _ = streamed(answering(WHOLE, finish_chunk(), then=goes_on, last=late))
    assert deltas == [TextDelta("Whole"), COUNTED if late else estimated, Finish("stop")]


def test_nobody_listening_is_unavailable_and_says_what_to_do():
    error = unreached("http://127.0.0.1:1/v1")
    assert type(error) is ProviderUnavailable
    assert "owner should check that the model server runs" in error.public
    assert "Connect call failed" in error.detail


def test_a_certificate_that_is_not_good_is_told_with_what_to_do():
    error, _ = failed(hello, tls=tls.of_a_stranger())
    assert "isn't signed by an issuer that this server trusts" in error.public
    assert "(SSL_CERT_FILE)" in error.public
    assert "unable to get local issuer certificate" in error.detail


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://x/v1", "http://169.254.169.254/v1", "http://2852039166/", "http://a b/"),
        *("http://a\tb/", "http://[v1.x]/", "http://é..b/", "http://127..0.0.1/"),
    ],
)
def test_addresses_that_cannot_be_asked_are_not(url):
    assert type(unreached(url)) is NotReady


def test_host_name_that_leads_to_a_metadata_address_is_not_connected_to(monkeypatch):
    async def resolved(self, host, port=0, family=0):
        found = {"hostname": host, "host": "169.254.169.254", "port": port}
        return [{**found, "family": 2, "proto": 6, "flags": 0}]

    monkeypatch.setattr("aiohttp.resolver.ThreadedResolver.resolve", resolved)
    assert "link-local or metadata" in unreached("http://models.example.com/v1").public


@pytest.mark.parametrize(
    ("head", "cause"),
    [
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 9000 + b"\r\n\r\n", "Got more than 8190 bytes"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "Bad status line"),
    ],
)
def test_who_answers_in_no_http_was_reached_and_the_operator_reads_why(head, cause):
    async def handler(request, reply):
        await reply.raw(head)
        reply.close()

    error, seen = failed(handler)
    assert (type(error), seen) == (ProviderUnavailable, [])
    assert "sent a response that isn't HTTP" in error.public
    assert cause in error.detail


@pytest.mark.parametrize("key", ["sk one", "sk-é", "sk\x00"])
def test_key_that_is_none_is_not_sent_and_not_repeated(key):
    error = unreached(key=key)
    assert type(error) is NotReady
    assert key not in str(error)


def test_without_a_key_there_is_no_authorization_and_nothing_of_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-environment")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-environment")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    _, server = streamed(hello, key=" ")
    (request,) = server.requests
    assert "authorization" not in request.headers
    assert not [value for value in request.headers.values() if "environment" in value]


def test_refusals_are_told_without_the_key():
    body = {"error": {"message": "The request of sk-test failed", "code": None}}
    error, seen = failed(refusing(429, body, Retry_After="7"))
    assert (type(error), seen, error.retry_after) == (ProviderBusy, [], 7)
    assert "sk-test" not in f"{error} {error.public} {error.detail} {error!r}"
    assert error.detail == "HTTP 429: The request of [key] failed"


def test_redirect_is_not_followed_with_the_key():
    error, _ = failed(refusing(307, {}, Location="https://elsewhere.example.com/v1"))
    assert "sends requests on to another address" in error.public


@pytest.mark.parametrize(
    ("error_object", "kind"),
    [
        ({"message": "slow down", "code": 429}, ProviderBusy),
        ({"message": "slow down", "code": "429"}, ProviderBusy),
        ({"message": "slow down", "type": "rate_limit_error"}, ProviderBusy),
        ({"message": "overloaded", "type": "overloaded_error"}, ProviderUnavailable),
        ({"message": "no credit", "code": "insufficient_quota"}, ProviderRefused),
        ({"message": "boom", "code": 42}, ProviderBroke),
        ({"message": "boom", "type": ["rate_limit"], "code": {"a": 1}}, ProviderBroke),
        ("boom", ProviderBroke),
    ],
)
def test_error_in_the_stream_before_any_words(error_object, kind):
    error, seen = failed(answering({"error": error_object}))
    assert (type(error), seen) == (kind, [])


OVERLOADED = {"error": {"message": "sk-test is overloaded", "code": 503}}


@pytest.mark.parametrize(
    "handler",
    [
        answering(HALF, last=[OVERLOADED]),
        answering(HALF, OVERLOADED),
        answering(HALF, "not json"),
        answering(HALF, "x" * (1024 * 1024 + 1)),
    ],
)
def test_error_in_the_stream_after_words_is_final_and_keeps_them(handler):
    error, seen = failed(handler)
    assert (type(error), seen) == (ProviderBroke, [TextDelta("Half")])
    assert "sk-test" not in error.detail
