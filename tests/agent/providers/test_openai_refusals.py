"""What an OpenAI-compatible server that was not reached, refuses or errs is told as."""

import asyncio

import pytest

from copilot_admin.agent.providers.http_client import close_clients
from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.agent.values.model_call import ALIVE, TextDelta
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.errors import (
    NotReady,
    ProviderBroke,
    ProviderBusy,
    ProviderRefused,
    ProviderUnavailable,
)
from tests import tls
from tests.agent.providers.openai_asking import deltas_of, failed, hello, refusing, streamed
from tests.agent.providers.upstream import serving, text_chunk


def test_nobody_listening_is_unavailable_and_says_what_to_do():
    async def run():
        provider = OpenAICompatible(
            ProviderSpec(name="local", kind="x", base_url="http://127.0.0.1:1/v1")
        )
        with pytest.raises(ProviderUnavailable) as caught:
            await deltas_of(provider)
        await close_clients()
        return caught.value

    error = asyncio.run(run())
    assert error.public == (
        "The provider 'local' could not be reached. Ask again in a moment; if it happens again, "
        "the copilot's owner should check that the model server runs."
    )
    assert "Connect call failed" in error.detail


def test_a_certificate_that_is_not_good_is_told_with_what_to_do():
    """Builders looked for a model's server that ran all the time."""

    async def run():
        async with serving(hello, tls=tls.of_a_stranger()) as server:
            with pytest.raises(ProviderUnavailable) as caught:
                await deltas_of(server.provider())
            return caught.value

    error = asyncio.run(run())
    assert error.public == (
        "The certificate of the provider 'local' isn't signed by an issuer that this server trusts. "
        "The copilot's owner should have it sent with its whole chain, or name its issuer "
        "to this server (SSL_CERT_FILE)."
    )
    assert "unable to get local issuer certificate" in error.detail


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
        await close_clients()

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

    monkeypatch.setattr("aiohttp.resolver.ThreadedResolver.resolve", resolved)

    async def run():
        provider = OpenAICompatible(
            ProviderSpec(name="local", kind="x", base_url="http://models.example.com/v1")
        )
        with pytest.raises(NotReady, match="link-local or metadata"):
            await deltas_of(provider)
        await close_clients()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("head", "cause"),
    [
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
            "Transfer-Encoding can't be present with Content-Length",
        ),
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
    assert error.public == (
        "The model's provider sent a response that isn't HTTP. The copilot's "
        "owner should check the provider's base URL and port, and any proxy before the model "
        "server."
    )
    assert cause in error.detail


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


def test_refusals_are_told_without_the_key():
    body = {"error": {"message": "The request of sk-test failed", "code": None}}
    error, seen = failed(refusing(429, body, Retry_After="7"))
    assert (type(error), seen) == (ProviderBusy, [])
    assert "sk-test" not in f"{error} {error.public} {error.detail} {error!r}"
    assert error.detail == "HTTP 429: The request of [key] failed"
    assert error.retry_after == 7


def test_redirect_is_not_followed_with_the_key():
    error, _ = failed(refusing(307, {}, Location="https://elsewhere.example.com/v1"))
    assert "sends requests on to another address" in error.public


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
