"""Networks of firms: proxies, private certificates and client certificates."""

import asyncio
from contextlib import asynccontextmanager
import ssl

import pytest

from copilot_admin.agent.fetching.egress import find_proxy
from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.agent.values.model_call import TextDelta
from copilot_admin.errors import NotReady, ProviderUnavailable
from tests import tls
from tests.agent.providers.openai_asking import deltas_of, hello, make_spec, unreached
from tests.agent.providers.upstream import serving

MODELS_URL = "http://models.example.com/v1"


def asked(url="", *, tls=None, path="/v1", **options):
    """The deltas of a server, and the requests that it got; it is a proxy if there is a URL."""

    async def run():
        async with serving(hello, tls=tls) as server:
            proxy = {"proxy": server.url} if url else {}
            spec = make_spec(url or f"{server.url}{path}", **proxy, **options)
            deltas = await deltas_of(OpenAICompatible(spec), read=server.read)
            return deltas, server.requests

    return asyncio.run(run())


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
        pipes = pipe(reader, upstream[1]), pipe(upstream[0], writer)
        await asyncio.gather(*pipes, return_exceptions=True)

    server = await asyncio.start_server(tunnel, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", targets


def authority_file(folder):
    file = folder / "ca.pem"
    file.write_text(tls.authority())
    return str(file)


def test_a_call_goes_through_the_proxy_of_its_provider():
    _, (request,) = asked(MODELS_URL)
    assert request.path == f"{MODELS_URL}/chat/completions"
    assert request.headers["authorization"] == "Bearer sk-test"


@pytest.mark.parametrize(("no_proxy", "is_used"), [("", True), ("example.com", False)])
def test_a_call_goes_through_the_proxy_of_the_environment_unless_no_proxy_names_its_host(
    no_proxy, is_used, monkeypatch
):
    async def nowhere(*_args, **_options):
        raise OSError("no such name")

    async def run():
        async with serving(hello) as proxy:
            monkeypatch.setenv("HTTP_PROXY", proxy.url)
            monkeypatch.setenv("NO_PROXY", no_proxy)
            deltas = deltas_of(OpenAICompatible(make_spec(MODELS_URL)), read=proxy.read)
            if is_used:
                await deltas
            else:
                with pytest.raises(ProviderUnavailable):
                    await deltas
            return bool(proxy.requests)

    monkeypatch.setattr("aiohttp.resolver.ThreadedResolver.resolve", nowhere)
    monkeypatch.delenv("REQUEST_METHOD", raising=False)
    assert asyncio.run(run()) == is_used


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
            spec = make_spec(f"{server.url}/v1", proxy=proxy, ca_bundle=authority_file(tmp_path))
            deltas = await deltas_of(OpenAICompatible(spec), read=server.read)
            return deltas, targets, server.url

    deltas, targets, url = asyncio.run(run())
    assert TextDelta("Hello") in deltas
    assert targets == [f"CONNECT {url.removeprefix('https://')} HTTP/1.1"]


def test_a_server_that_wants_a_client_certificate_gets_the_one_of_the_provider(tmp_path):
    wanting = tls.shown()
    wanting.load_verify_locations(cadata=tls.authority())
    wanting.verify_mode = ssl.CERT_REQUIRED
    bundle = authority_file(tmp_path)
    certificate = tls.client_certificate(tmp_path)
    deltas, _ = asked(tls=wanting, ca_bundle=bundle, client_certificate=certificate)
    assert TextDelta("Hello") in deltas
    with pytest.raises(ProviderUnavailable):
        asked(tls=wanting, ca_bundle=bundle)


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_certificates_that_cannot_be_read_are_named(content, tmp_path):
    file = tmp_path / "ca.pem"
    if content:
        file.write_text(content)
    error = unreached(MODELS_URL, ca_bundle=str(file))
    assert type(error) is NotReady
    assert "certificates of the provider 'p' can't be read" in error.public


def test_headers_organization_and_project_are_sent():
    _, (request,) = asked(
        headers=(("CF-Access-Client-Id", "abc"), ("Authorization", "Basic x")),
        organization="org-1",
        project="proj-1",
    )
    headers = request.headers
    assert (headers["cf-access-client-id"], headers["authorization"]) == ("abc", "Basic x")
    assert (headers["openai-organization"], headers["openai-project"]) == ("org-1", "proj-1")


def test_the_query_of_a_base_url_stays_behind_the_path():
    _, (request,) = asked(path="/openai/deployments/d?api-version=2024-06-01&a=b%20c")
    path, _, query = request.path.partition("?")
    assert path == "/openai/deployments/d/chat/completions"
    assert query in ("api-version=2024-06-01&a=b%20c", "api-version=2024-06-01&a=b+c")
