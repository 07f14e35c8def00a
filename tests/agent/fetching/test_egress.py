"""Files are fetched from the open network, and from nowhere that a caller should not reach."""

import asyncio
import gzip
import socket
import ssl
from ssl import SSLCertVerificationError

from aiohttp import ClientConnectorSSLError
import pytest

from copilot_admin.agent.fetching import egress, tls_faults
from copilot_admin.agent.fetching.addresses import MAX_URL_LENGTH
from copilot_admin.agent.fetching.egress import BUSY, Egress, FetchFailed
from copilot_admin.agent.fetching.tls_faults import tls_fault
from tests import tls
from tests.agent.providers.upstream import serving

HERE = ("127.0.0.1",)


async def body_of(url, *, allowed=HERE, **limits):
    async with Egress(allowed, **limits).fetch(url) as body:
        return body


def fetched(handler, *, tls=None, path="/a.pdf", **limits):
    async def run():
        async with serving(handler, tls=tls) as server:
            return await body_of(server.url + path, **limits)

    return asyncio.run(run())


def failed(handler=None, *, url=None, **limits):
    with pytest.raises(FetchFailed) as error:
        if url is not None:
            asyncio.run(body_of(url, **limits))
        else:
            fetched(handler, **limits)
    return error.value


def refused(handler=None, **limits):
    return failed(handler, **limits).public


def answering(status=200, body=b"%PDF", type="application/pdf", **headers):
    async def handler(request, reply):
        await reply.start(status, type=type, **headers)
        if body:
            await reply.send(body)
        await reply.end()

    return handler


@pytest.mark.parametrize(
    ("type", "sent", "body"),
    [
        ("text/html; charset=gbk", "收入 1,200".encode("gbk"), "收入 1,200".encode()),
        ("text/plain; charset=iso-8859-1", "Größe".encode(), "Größe".encode()),  # it is wrong
        ("text/html; charset=unknown", b"Gr\xf6\xdfe", b"Gr\xf6\xdfe"),
        ("text/html; charset=gbk", b"<meta charset=big5>\xa4\xa4", b"<meta charset=big5>\xa4\xa4"),
        ("application/pdf; charset=gbk", b"%PDF \xca\xd5", b"%PDF \xca\xd5"),
    ],
)
def test_an_encoding_that_only_the_header_names_counts(type, sent, body):
    assert fetched(answering(body=sent, type=type)) == body


@pytest.mark.parametrize("allowed", ["127.0.0.1", "127.0.0.0/8"])
def test_a_file_is_fetched_where_the_operator_allows_it(allowed):
    assert fetched(answering(), allowed=(allowed,)) == b"%PDF"


@pytest.mark.parametrize("allowed", [(), ("10.0.0.0/8", "files.example")])
def test_a_private_address_is_not_asked(allowed):
    assert refused(answering(), allowed=allowed) == (
        "The link leads into a private network, from which nothing is fetched."
    )


METADATA = "http://169.254.169.254/latest/meta-data"


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        (METADATA, ()),
        (METADATA, ("169.254.169.254", "169.254.0.0/16")),
        ("http://[::ffff:169.254.169.254]/", ()),
        ("http://[::ffff:10.0.0.1]/", ()),
        ("http://localhost:1/", ()),
        ("http://224.0.1.1/", ()),
        ("http://[::127.0.0.1]:1/", ()),
    ],
)
def test_private_multicast_and_metadata_addresses_are_refused_in_every_spelling(url, allowed):
    assert "private network" in refused(url=url, allowed=allowed)


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
    error = failed(url="http://wiki.intra.example/a.pdf")
    assert error.public == "The server behind the link could not be reached."
    assert ("private network" in error.detail) is error.is_private is bool(found)


@pytest.mark.parametrize(
    ("url", "allowed", "is_refused"),
    [
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


def test_a_host_name_may_be_allowed_and_only_it():
    async def run():
        async with serving(answering()) as server:
            port = server.url.rpartition(":")[2]
            return await body_of(f"http://localhost:{port}/a.pdf", allowed=["localhost"])

    assert asyncio.run(run()) == b"%PDF"


def test_a_redirect_into_a_private_network_is_not_followed():
    assert "private network" in refused(answering(302, b"", Location="http://192.168.0.1/"))


@pytest.mark.parametrize("to", ["http://keys.example/set", "HTTP://keys.example/set"])
def test_a_redirect_from_https_to_http_can_be_refused(monkeypatch, to):
    async def hop(self, url):
        return b"keys" if url == to else to

    monkeypatch.setattr(Egress, "_hop", hop)
    start = "https://keys.example/set"
    assert asyncio.run(body_of(start)) == b"keys"
    assert "away from https" in refused(url=start, keeps_https=True)


NO_HTTP = "The link is no http or https address, or too long."
UNREACHED = "The server behind the link could not be reached."


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://a.example/".ljust(MAX_URL_LENGTH + 1, "x"), NO_HTTP),
        *((url, NO_HTTP) for url in ("ftp://a/b", "file:///etc/passwd", "http://[", "data:,x")),
        ("http://127.0.0.1:99999/", "The link leads nowhere."),
        ("http://127.0.0.1:1/", UNREACHED),
    ],
)
def test_what_is_no_address_of_a_server_is_told(url, told):
    assert refused(url=url) == told


def with_length(body, *, length=None, **headers):
    """Answers with the length of the body in its head, or with another."""

    async def handler(request, reply):
        lines = ["HTTP/1.1 200 X", f"Content-Length: {len(body) if length is None else length}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await reply.raw("\r\n".join((*lines, "", "")).encode() + body)
        if length is not None:
            reply.cut()

    return handler


def compressed(body, encoding="gzip"):
    return with_length(body, Content_Encoding=encoding)


async def silent(request, reply):
    await reply.left.wait()


BOMB = gzip.compress(bytes(4 * 2**20), mtime=0)
BROKE_OFF = "The file did not arrive whole."


@pytest.mark.parametrize(
    ("handler", "limits", "told"),
    [
        (answering(403), {}, "The link has expired or is not open: the server answered 403."),
        (answering(500), {}, "The server answered 500."),
        (answering(302, b"", Location="/again"), {}, "The link leads nowhere."),
        (answering(), {"most_bytes": 3}, "It is larger than 0 MB."),
        (silent, {"seconds": 0.05}, "It did not arrive within 0.05 seconds."),
        (with_length(b"", length=51 * 2**20), {}, "It is larger than 50 MB."),
        (with_length(b"%PDF", length=400), {}, BROKE_OFF),
        (compressed(b"%PDF"), {}, BROKE_OFF),
        (compressed(b"\xff\xff\xff", "deflate"), {}, BROKE_OFF),
        (compressed(BOMB), {"most_bytes": 2**20}, "It is larger than 1 MB."),
    ],
)
def test_a_file_that_does_not_come_is_told(handler, limits, told):
    assert refused(handler, **limits) == told


def test_what_is_compressed_is_decompressed():
    assert fetched(compressed(gzip.compress(b"%PDF", mtime=0))) == b"%PDF"


def test_a_certificate_that_is_not_good_is_told(monkeypatch):
    tls.trust(monkeypatch)
    error = failed(answering(), tls=tls.expired())
    assert error.public == "The certificate of the server behind the link has expired."
    assert error.detail == f"{error.public} Its operator should have it renewed."


def test_a_server_that_speaks_no_tls_is_told():
    async def plain(reader, writer):
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def run():
        async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            await body_of(f"https://127.0.0.1:{port}/")

    with pytest.raises(FetchFailed, match="No encrypted connection could be made"):
        asyncio.run(run())


def test_who_finds_no_slot_in_time_is_told(monkeypatch):
    monkeypatch.setattr(egress, "MAX_CONCURRENT", 1)
    monkeypatch.setattr(egress, "MAX_WAIT_SECONDS", 0.01)

    async def run():
        async with serving(answering()) as server:
            client = Egress(HERE)
            async with client.fetch(server.url):
                with pytest.raises(FetchFailed) as error:
                    async with client.fetch(server.url):
                        pass
            async with client.fetch(server.url) as body:
                return error.value.public, body

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


@pytest.mark.parametrize(
    ("found", "allowed"),
    [(("93.184.216.34",), ()), ((), ()), (("10.0.0.7",), ("files.example",))],
    ids=["public", "only the proxy knows", "allowed"],
)
def test_links_go_through_the_proxy_of_the_environment(found, allowed, monkeypatch):
    resolved_to(monkeypatch, *found)
    url = "http://files.example/a.pdf"
    assert through_proxy(url, monkeypatch, allowed=allowed) == (b"%PDF", [url])


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


def refusal(server: ssl.SSLContext) -> ssl.SSLError | None:
    """Why a client of the authority does not go on with a server; None: it does. Nothing is sent."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = tls.trusting().wrap_bio(to_client, to_server, server_hostname=tls.ADDRESS)
    shows = server.wrap_bio(to_server, to_client, server_side=True)
    for side in (client, shows, client):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
        except ssl.SSLError as error:
            return error
    return None


@pytest.mark.parametrize(
    ("server", "fault"),
    [
        (tls.shown, None),
        (tls.expired, tls_faults.EXPIRED),
        (tls.too_early, tls_faults.TOO_EARLY),
        (tls.of_another_host, tls_faults.OTHER_HOST),
        (tls.of_a_stranger, tls_faults.UNKNOWN_ISSUER),
    ],
)
def test_what_is_wrong_with_a_certificate_is_known(server, fault):
    error = refusal(server())
    assert (error and tls_fault(error)) == fault


def test_other_errors_are_of_a_certificate_of_tls_or_of_neither():
    assert tls_fault(SSLCertVerificationError("it names nobody")) is tls_faults.OTHER
    assert tls_fault(ConnectionResetError("reset")) is None
    assert tls_fault(ssl.SSLError("amid an answer")) is None
    error = ClientConnectorSSLError.__new__(ClientConnectorSSLError)
    assert tls_fault(error) is tls_faults.NO_TLS
