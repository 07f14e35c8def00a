"""Files are fetched from the open network, and from nowhere that a caller should not reach."""

import asyncio
import gzip
import socket

import pytest

from copilot_admin.agent.fetching import egress
from copilot_admin.agent.fetching.addresses import MAX_URL_LENGTH
from copilot_admin.agent.fetching.egress import BUSY, Egress, FetchFailed
from tests import tls
from tests.agent.providers.upstream import serving


async def body_of(url, *, allowed, **limits):
    async with Egress(allowed, **limits).fetch(url) as body:
        return body


def fetched(handler, *, allowed=("127.0.0.1",), path="/a.pdf", **limits):
    async def run():
        async with serving(handler) as server:
            return await body_of(server.url + path, allowed=allowed, **limits)

    return asyncio.run(run())


def refused(handler=None, *, url=None, allowed=("127.0.0.1",), **limits):
    with pytest.raises(FetchFailed) as error:
        if url is not None:
            asyncio.run(body_of(url, allowed=allowed))
        else:
            fetched(handler, allowed=allowed, **limits)
    return error.value.public


def answering(status=200, body=b"%PDF", **headers):
    async def handler(request, reply):
        await reply.start(status, type="application/pdf", **headers)
        if body:
            await reply.send(body)
        await reply.end()

    return handler


@pytest.mark.parametrize("allowed", ["127.0.0.1", "127.0.0.0/8"])
def test_a_file_is_fetched_where_the_operator_allows_it(allowed):
    assert fetched(answering(), allowed=(allowed,)) == b"%PDF"


@pytest.mark.parametrize("allowed", [(), ("10.0.0.0/8", "files.example")])
def test_a_private_address_is_not_asked(allowed):
    assert refused(answering(), allowed=allowed) == (
        "The link leads into a private network, from which nothing is fetched."
    )


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://[::ffff:169.254.169.254]/",
        "http://[::ffff:10.0.0.1]/",
        "http://localhost:1/",
        "http://224.0.1.1/",
        "http://[::127.0.0.1]:1/",
    ],
)
def test_private_multicast_and_metadata_addresses_are_refused_in_every_spelling(url):
    assert "private network" in refused(url=url, allowed=())


def test_a_link_that_is_too_long_for_any_server_is_not_looked_at():
    assert "too long" in refused(url="http://a.example/".ljust(MAX_URL_LENGTH + 1, "x"))


def resolved_to(monkeypatch, *found):
    """Has every name these addresses; without one, none is known."""

    async def resolved(self, host, port=0, family=0):
        if not found:
            raise socket.gaierror("no such name")
        return [
            {"hostname": host, "host": one, "port": port, "family": 2, "proto": 6, "flags": 0}
            for one in found
        ]

    monkeypatch.setattr("aiohttp.ThreadedResolver.resolve", resolved)


@pytest.mark.parametrize("found", [("10.0.0.7",), ("169.254.169.254",), ()])
def test_no_stranger_learns_which_names_a_private_network_has(found, monkeypatch):
    resolved_to(monkeypatch, *found)
    with pytest.raises(FetchFailed) as failed:
        asyncio.run(body_of("http://wiki.intra.example/a.pdf", allowed=()))

    assert failed.value.public == "The server behind the link could not be reached."
    assert ("private network" in failed.value.detail) is bool(found)


@pytest.mark.parametrize(
    ("url", "allowed", "is_refused"),
    [
        ("http://169.254.169.254/", (), True),
        ("http://169.254.169.254/", ("169.254.0.0/16",), True),
        ("http://0x7f.1:8000/", (), True),
        ("http://[::ffff:10.0.0.1]/", (), True),
        ("http://LOCALHOST./", (), True),
        ("http://app.localhost/", (), True),
        ("http://app.localhost/", ("127.0.0.0/8",), False),
        ("http://localhost/", ("localhost",), False),
        ("http://10.0.0.1/", ("10.0.0.0/8",), False),
        ("http://192.0.2.1.example/", (), False),
        ("http://8.8.8.8/", (), False),
    ],
)
def test_of_an_address_that_is_kept_it_is_known_before_whether_it_is_private(
    url, allowed, is_refused
):
    assert Egress(allowed).refuses(url) == is_refused


def test_a_metadata_address_is_never_allowed():
    url = "http://169.254.169.254/"
    assert "private network" in refused(url=url, allowed=("169.254.169.254", "169.254.0.0/16"))


def test_a_host_name_may_be_allowed_and_only_it(monkeypatch):
    async def run():
        async with serving(answering()) as server:
            port = server.url.rpartition(":")[2]
            return await body_of(f"http://localhost:{port}/a.pdf", allowed=["localhost"])

    assert asyncio.run(run()) == b"%PDF"


def test_a_redirect_into_a_private_network_is_not_followed():
    assert "private network" in refused(
        answering(302, b"", Location="http://192.168.0.1/"), allowed=("127.0.0.1",)
    )


@pytest.mark.parametrize("to", ["http://keys.example/set", "HTTP://keys.example/set"])
def test_a_redirect_from_https_to_http_can_be_refused(monkeypatch, to):
    hops = []

    async def hop(self, url):
        hops.append(url)
        return b"keys" if url == to else to

    monkeypatch.setattr(Egress, "_hop", hop)
    start = "https://keys.example/set"
    assert asyncio.run(body_of(start, allowed=())) == b"keys"
    with pytest.raises(FetchFailed, match="away from https"):
        asyncio.run(body_of(start, allowed=(), keeps_https=True))
    assert hops == [start, to, start]


def test_a_redirect_without_end_leads_nowhere():
    assert refused(answering(302, b"", Location="/again")) == "The link leads nowhere."


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (403, "The link has expired or is not open: the server answered 403."),
        (404, "The link has expired or is not open: the server answered 404."),
        (500, "The server answered 500."),
    ],
)
def test_a_link_that_has_expired_is_told(status, told):
    assert refused(answering(status)) == told


@pytest.mark.parametrize("url", ["ftp://a/b", "file:///etc/passwd", "http://[", "data:,x"])
def test_only_http_is_fetched(url):
    assert refused(url=url) == "The link is no http or https address, or too long."


def test_an_address_that_is_none_leads_nowhere():
    assert refused(url="http://127.0.0.1:99999/") == "The link leads nowhere."


def test_a_server_that_does_not_answer_is_told():
    assert refused(url="http://127.0.0.1:1/") == "The server behind the link could not be reached."


def test_a_certificate_that_is_not_good_is_told(monkeypatch):
    """It was said that the link leads nowhere."""
    tls.trust(monkeypatch)

    async def run():
        async with serving(answering(), tls=tls.expired()) as server:
            await body_of(server.url, allowed=["127.0.0.1"])

    with pytest.raises(FetchFailed) as failed:
        asyncio.run(run())
    said = "The certificate of the server behind the link has expired."
    assert (failed.value.public, failed.value.detail) == (
        said,
        f"{said} Its operator should have it renewed.",
    )


def test_a_server_that_speaks_no_tls_is_told():
    async def plain(reader, writer):
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def run():
        server = await asyncio.start_server(plain, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            await body_of(f"https://127.0.0.1:{port}/", allowed=["127.0.0.1"])

    told = "No encrypted connection could be made with the server behind the link."
    with pytest.raises(FetchFailed, match=told):
        asyncio.run(run())


def test_too_much_and_too_slow_is_told():
    assert "It is larger than" in refused(answering(body=b"%PDF"), most_bytes=3)

    async def silent(request, reply):
        await reply.left.wait()

    assert "did not arrive within" in refused(silent, seconds=0.05)


def with_length(body, *, length=None, **headers):
    """Answers with the length of the body in its head, or with another."""

    async def handler(request, reply):
        lines = ["HTTP/1.1 200 X", f"Content-Length: {len(body) if length is None else length}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await reply.raw("\r\n".join((*lines, "", "")).encode() + body)
        if length is not None:
            reply.cut()

    return handler


def test_a_file_that_says_it_is_too_large_is_not_read():
    assert refused(with_length(b"", length=51 * 2**20)) == "It is larger than 50 MB."


@pytest.mark.parametrize(
    ("encoding", "body", "found"),
    [
        ("gzip", gzip.compress(b"%PDF", mtime=0), b"%PDF"),
        ("gzip", b"%PDF", None),
        ("deflate", b"\xff\xff\xff", None),
    ],
)
def test_what_is_compressed_is_decompressed_or_told(encoding, body, found):
    handler = with_length(body, Content_Encoding=encoding)
    if found is None:
        assert refused(handler) == "The file did not arrive whole."
    else:
        assert fetched(handler) == found


def test_a_little_that_decompresses_to_a_lot_is_ended():
    bomb = gzip.compress(bytes(4 * 2**20), mtime=0)
    handler = with_length(bomb, Content_Encoding="gzip")
    assert refused(handler, most_bytes=2**20) == "It is larger than 1 MB."


def test_a_file_that_breaks_off_is_told():
    assert refused(with_length(b"%PDF", length=400)) == "The file did not arrive whole."


def test_who_finds_no_slot_in_time_is_told(monkeypatch):
    monkeypatch.setattr(egress, "MAX_CONCURRENT", 1)
    monkeypatch.setattr(egress, "MAX_WAIT_SECONDS", 0.01)

    async def run():
        async with serving(answering()) as server:
            client = Egress(["127.0.0.1"])
            async with client.fetch(server.url):
                with pytest.raises(FetchFailed) as failed:
                    async with client.fetch(server.url):
                        pass
            async with client.fetch(server.url) as body:
                return failed.value.public, body

    assert asyncio.run(run()) == (BUSY, b"%PDF")


def through_proxy(url, monkeypatch, *, allowed=()):
    """What comes through a proxy of the environment, and the paths that it was asked for."""

    async def run():
        async with serving(answering()) as proxy:
            monkeypatch.setenv("HTTP_PROXY", proxy.url)
            monkeypatch.setenv("NO_PROXY", "")
            try:
                body = await body_of(url, allowed=allowed)
            except FetchFailed as error:
                body = error.detail
            return body, [request.path for request in proxy.requests]

    return asyncio.run(run())


@pytest.mark.parametrize("found", [("93.184.216.34",), ()], ids=["public", "only the proxy knows"])
def test_links_go_through_the_proxy_of_the_environment(found, monkeypatch):
    resolved_to(monkeypatch, *found)
    url = "http://files.example/a.pdf"
    assert through_proxy(url, monkeypatch) == (b"%PDF", [url])


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://wiki.intra.example/", ("10.0.0.7",)),
        ("http://rebound.example/", ("93.184.216.34", "169.254.169.254")),
        ("http://10.0.0.7/", ()),
        ("http://169.254.169.254/", ()),
    ],
)
def test_a_private_address_is_refused_before_the_proxy_is_asked(url, found, monkeypatch):
    resolved_to(monkeypatch, *found)
    body, asked = through_proxy(url, monkeypatch)
    assert "private network" in body
    assert asked == []


def test_an_allowed_private_address_is_asked_through_the_proxy(monkeypatch):
    resolved_to(monkeypatch, "10.0.0.7")
    url = "http://wiki.intra.example/a.pdf"
    allowed = ("wiki.intra.example",)
    assert through_proxy(url, monkeypatch, allowed=allowed) == (b"%PDF", [url])
