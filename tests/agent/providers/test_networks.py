"""Networks of firms: proxies, private certificates and client certificates."""

import asyncio
from contextlib import asynccontextmanager
import ssl

import pytest

from copilot_admin.agent.fetching.egress import find_proxy
from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.agent.values.model_call import TextDelta
from copilot_admin.agent.values.spec import ProviderOptions, ProviderSpec
from copilot_admin.errors import NotReady, ProviderUnavailable
from tests import tls
from tests.agent.providers.openai_asking import deltas_of, hello
from tests.agent.providers.upstream import serving

MODELS_URL = "http://models.example.com/v1"


def provider(url, **options):
    spec = ProviderSpec(
        name="p",
        kind="openai_compatible",
        base_url=url,
        api_key="sk-test",
        options=ProviderOptions(**options),
    )
    return OpenAICompatible(spec)


def first_words(deltas):
    return next(delta for delta in deltas if isinstance(delta, TextDelta))


@asynccontextmanager
async def tunnelling():
    """A proxy that tunnels, and the targets it was asked for."""
    targets = []

    async def pipe(reader, writer):
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()

    async def tunnel(reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        targets.append(head.splitlines()[0])
        host, port = head.split()[1].split(":")
        upstream = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        await asyncio.gather(
            pipe(reader, upstream[1]), pipe(upstream[0], writer), return_exceptions=True
        )

    server = await asyncio.start_server(tunnel, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", targets
    finally:
        server.close()


def authority_file(folder):
    file = folder / "ca.pem"
    file.write_text(tls.authority())
    return str(file)


def test_a_call_goes_through_the_proxy_of_its_provider():
    async def run():
        async with serving(hello) as proxy:
            await deltas_of(provider(MODELS_URL, proxy=proxy.url), read=proxy.read)
            return proxy.requests

    (request,) = asyncio.run(run())
    assert request.path == f"{MODELS_URL}/chat/completions"
    assert request.headers["authorization"] == "Bearer sk-test"


@pytest.mark.parametrize(("no_proxy", "asked"), [("", 1), ("example.com", 0)])
def test_a_call_goes_through_the_proxy_of_the_environment_unless_no_proxy_names_its_host(
    no_proxy, asked, monkeypatch
):
    async def nowhere(*_args, **_options):
        raise OSError("no such name")

    monkeypatch.setattr("aiohttp.resolver.ThreadedResolver.resolve", nowhere)

    async def run():
        async with serving(hello) as proxy:
            monkeypatch.setenv("HTTP_PROXY", proxy.url)
            monkeypatch.setenv("NO_PROXY", no_proxy)
            if asked:
                await deltas_of(provider(MODELS_URL), read=proxy.read)
            else:
                with pytest.raises(ProviderUnavailable):
                    await deltas_of(provider(MODELS_URL))
            return len(proxy.requests)

    monkeypatch.delenv("REQUEST_METHOD", raising=False)
    assert asyncio.run(run()) == asked


@pytest.mark.parametrize(
    ("url", "no_proxy", "proxy"),
    [
        ("https://api.example.com/v1", "", "http://secure:3128"),
        ("http://api.example.com/v1", "", "http://plain:3128"),
        ("https://api.example.com/v1", ".example.com", None),
        ("https://api.example.com/v1", "other.org,api.example.com:443", "http://secure:3128"),
        ("https://api.example.com:8443/v1", "api.example.com:8443", None),
        ("https://10.1.2.3/v1", "10.0.0.0/8", None),
        ("https://11.1.2.3/v1", "10.0.0.0/8", "http://secure:3128"),
        ("https://api.example.com/v1", "*", None),
        ("http://127.0.0.1:11434/v1", "", None),
        ("http://localhost:11434/v1", "", None),
    ],
)
def test_the_environment_names_the_proxy(url, no_proxy, proxy, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://secure:3128")
    monkeypatch.setenv("HTTP_PROXY", "plain:3128")
    monkeypatch.setenv("NO_PROXY", no_proxy)
    assert find_proxy(url) == proxy


def test_tls_goes_through_a_tunnel_to_a_server_with_a_private_certificate(tmp_path):
    async def run():
        async with serving(hello, tls=tls.shown()) as server, tunnelling() as (proxy, targets):
            asked = provider(f"{server.url}/v1", proxy=proxy, ca_bundle=authority_file(tmp_path))
            deltas = await deltas_of(asked, read=server.read)
            return deltas, targets, server.url

    deltas, targets, url = asyncio.run(run())
    assert first_words(deltas) == TextDelta("Hello")
    assert targets == [f"CONNECT {url.removeprefix('https://')} HTTP/1.1"]


@pytest.mark.parametrize("shows", [True, False])
def test_a_server_that_wants_a_client_certificate_gets_the_one_of_the_provider(shows, tmp_path):
    certificate = tls.client_certificate(tmp_path)
    wanting = tls.shown()
    wanting.load_verify_locations(cadata=tls.authority())
    wanting.verify_mode = ssl.CERT_REQUIRED

    async def run():
        options = {"client_certificate": certificate} if shows else {}
        async with serving(hello, tls=wanting) as server:
            asked = provider(f"{server.url}/v1", ca_bundle=authority_file(tmp_path), **options)
            return await deltas_of(asked, read=server.read)

    if shows:
        assert first_words(asyncio.run(run())) == TextDelta("Hello")
    else:
        with pytest.raises(ProviderUnavailable):
            asyncio.run(run())


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_certificates_that_cannot_be_read_are_named(content, tmp_path):
    file = tmp_path / "ca.pem"
    if content:
        file.write_text(content)
    with pytest.raises(NotReady, match="certificates of the provider 'p' can't be read"):
        asyncio.run(deltas_of(provider(MODELS_URL, ca_bundle=str(file))))


def test_headers_organization_and_project_are_sent():
    async def run():
        async with serving(hello) as server:
            asked = provider(
                f"{server.url}/v1",
                headers=(("CF-Access-Client-Id", "abc"), ("Authorization", "Basic x")),
                organization="org-1",
                project="proj-1",
            )
            await deltas_of(asked, read=server.read)
            return server.requests[0].headers

    headers = asyncio.run(run())
    assert headers["cf-access-client-id"] == "abc"
    assert headers["authorization"] == "Basic x"
    assert (headers["openai-organization"], headers["openai-project"]) == ("org-1", "proj-1")


def test_the_query_of_a_base_url_stays_behind_the_path():
    async def run():
        async with serving(hello) as server:
            asked = provider(f"{server.url}/openai/deployments/d?api-version=2024-06-01&a=b%20c")
            await deltas_of(asked, read=server.read)
            return server.requests[0].path

    path, _, query = asyncio.run(run()).partition("?")
    assert path == "/openai/deployments/d/chat/completions"
    assert query in ("api-version=2024-06-01&a=b%20c", "api-version=2024-06-01&a=b+c")
