"""What a provider may answer: so much, in so long, from where it was asked."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
import threading
import zlib

from django.test import Client
from django.urls import reverse
import pytest
import requests

from copilot_admin.accounts.external import Vouched, account_of
from copilot_admin.admin.logins import asking, discovery, oidc_views
from copilot_admin.config.sso import SsoSettings
from copilot_admin.errors import Forbidden, Unavailable
from tests import tls
from tests.admin.logins.provider import MAP, Provider
from tests.factories import make_user
from tests.http_stub import Handle, http_stub


def saying(body: bytes, status: int = 200, **headers: str) -> Handle:
    def handle(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(body)

    return handle


def test_what_it_says_is_read():
    with http_stub(saying(b'{"a": [1]}')) as url:
        assert asking.json_of("POST", url, data={"b": "c"}) == {"a": [1]}


def test_what_netrc_says_of_a_host_is_not_sent(tmp_path, monkeypatch):
    """It took the place of the header by which this server says who it is."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    seen = []

    def handle(request: BaseHTTPRequestHandler) -> None:
        seen.append(request.headers["Authorization"])
        saying(b"{}")(request)

    with http_stub(handle) as url:
        asking.json_of("GET", url)
        asking.json_of("GET", url, headers={"Authorization": "Bearer ours"})
        asking.json_of("GET", url, auth=("id", "secret"))
    assert seen == [None, "Bearer ours", "Basic aWQ6c2VjcmV0"]


def test_an_answer_has_an_end(monkeypatch):
    monkeypatch.setattr(asking, "MOST_BYTES", 1000)
    with http_stub(saying(b"[" + b" " * 2000 + b"]")) as url, pytest.raises(asking.TooMuch):
        asking.json_of("GET", url)


def test_so_has_one_that_was_packed(monkeypatch):
    monkeypatch.setattr(asking, "MOST_BYTES", 100_000)
    packed = zlib.compress(b" " * 5_000_000)
    sent = saying(packed, Content_Encoding="deflate")
    with http_stub(sent) as url, pytest.raises(asking.TooMuch):
        asking.json_of("GET", url)


def test_one_that_comes_in_drops_is_given_up(monkeypatch):
    monkeypatch.setattr(asking, "MOST_SECONDS", -1.0)
    with http_stub(saying(b"{}")) as url, pytest.raises(asking.TooMuch):
        asking.json_of("GET", url)


def test_a_head_without_an_end_is_given_up_too(monkeypatch):
    monkeypatch.setattr(asking, "MOST_SECONDS", 0.0)
    is_over = threading.Event()

    def begin(request: BaseHTTPRequestHandler) -> None:
        request.wfile.write(b"HTTP/1.1 200 OK\r\nX-A: ")
        request.wfile.flush()
        is_over.wait()

    with http_stub(begin) as url, pytest.raises(asking.TooMuch):
        try:
            asking.json_of("GET", url)
        finally:
            is_over.set()


def test_nobody_is_followed_elsewhere_with_what_is_for_the_provider():
    asked = []

    def other(request: BaseHTTPRequestHandler) -> None:
        asked.append(request.path)
        saying(b"{}")(request)

    with (
        http_stub(other) as elsewhere,
        http_stub(saying(b"", 307, Location=elsewhere)) as url,
        pytest.raises(requests.TooManyRedirects),
    ):
        asking.json_of("POST", url, data={"client_secret": "s"})
    assert asked == []


@pytest.mark.parametrize("body", [b"", b"no", b"\xff\xfe\xff", b"[" * 100_000])
def test_what_is_no_json_is_a_wrong_value(body):
    with http_stub(saying(body)) as url, pytest.raises(ValueError):  # any of them
        asking.json_of("GET", url)


@pytest.fixture
def firm(settings) -> Callable[[str], SsoSettings]:
    def use(url: str) -> SsoSettings:
        discovery.forget()
        used = settings.SSO = Provider(url).log_in()
        return used

    return use


@pytest.mark.django_db
class TestStarting:
    def test_a_provider_that_does_not_answer_is_left_alone_for_a_moment(self, firm):
        asked = []

        def broken(request: BaseHTTPRequestHandler) -> None:
            asked.append(request.path)
            saying(b"", 502)(request)

        with http_stub(broken) as url:
            firm(url)
            statuses = [Client().get(reverse("firm:start")).status_code for _ in range(3)]
            discovery.forget()
        assert (statuses, len(asked)) == ([503] * 3, 1)

    def test_a_certificate_that_is_not_good_is_told_to_all_and_the_log_says_more(
        self, firm, caplog
    ):
        """It was said to all that it does not answer, and that they should try again."""
        with http_stub(saying(b"{}"), tls=tls.of_a_stranger()) as url:
            provider = firm(url).oidc
            for _ in range(2):
                with pytest.raises(Unavailable, match="certificate of your firm's log-in is not"):
                    discovery.endpoints_of(provider)
            discovery.forget()
        assert [one.getMessage() for one in caplog.records] == [
            "The certificate of the firm's log-in is signed by nobody whom this server trusts. Have "
            "it sent with its whole chain, or name its issuer to this server (REQUESTS_CA_BUNDLE)."
        ]

    def test_one_asks_a_provider_that_is_slow_and_the_others_do_not_wait_for_it(
        self, firm, monkeypatch
    ):
        monkeypatch.setattr(discovery, "PATIENCE_SECONDS", 0.0)
        asked, is_asked, is_over = [], threading.Event(), threading.Event()

        def slow(request: BaseHTTPRequestHandler) -> None:
            asked.append(request.path)
            is_asked.set()
            is_over.wait()

        with http_stub(slow) as url, ThreadPoolExecutor() as others:
            provider = firm(url).oidc
            first = others.submit(discovery.endpoints_of, provider)
            is_asked.wait()
            with pytest.raises(Unavailable, match="does not answer"):
                discovery.endpoints_of(provider)
            is_over.set()
            assert isinstance(first.exception(), Unavailable)
        discovery.forget()
        assert len(asked) == 1

    def test_a_network_begins_so_many_in_a_minute_and_who_is_somebody_goes_on(
        self, firm, monkeypatch
    ):
        monkeypatch.setattr(oidc_views, "MOST_STARTS", 2)
        firm("http://127.0.0.1:9")
        start = reverse("firm:start")
        found = [Client().get(start, REMOTE_ADDR="192.0.2.7") for _ in range(3)]
        assert [one.status_code for one in found] == [503, 503, 429]
        assert [one["Retry-After"] for one in found] == ["5", "5", "60"]
        assert Client().get(start, REMOTE_ADDR="198.51.100.1").status_code == 503
        known = Client()
        known.force_login(make_user())
        assert known.get(start, REMOTE_ADDR="192.0.2.7").status_code == 503
        discovery.forget()

    def test_an_address_of_the_provider_keeps_its_own_parameters(self, firm, monkeypatch):
        provider = firm("http://idp").oidc
        found = discovery.Endpoints(
            issuer=provider.issuer, authorization="http://idp/go?p=x", token="t", keys="k"
        )
        monkeypatch.setattr(discovery, "endpoints_of", lambda _: found)
        location = Client().get(reverse("firm:start"))["Location"]
        assert location.startswith("http://idp/go?p=x&response_type=code&")


@pytest.mark.django_db
@pytest.mark.parametrize("subject", ["", "a\x00b", "a\ud800", "a\nb", "x" * 1000])
def test_who_is_known_by_no_text_is_told_so(subject):
    said = Vouched(issuer="http://idp", subject=subject, groups=("analysts",))
    with pytest.raises(Forbidden, match="does not say who you are"):
        account_of(said, MAP)
