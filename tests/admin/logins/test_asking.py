"""What a provider may answer: so much, in so long, from where it was asked."""

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

from django.test import Client
from django.urls import reverse
import pytest
import requests

from copilot_admin.admin.logins import discovery
from copilot_admin.admin.logins import oidc_http as asking
from copilot_admin.config.sso import SsoSettings
from copilot_admin.errors import Unavailable
from tests import tls
from tests.admin.logins.provider import Provider
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


def test_an_answer_has_an_end(monkeypatch):
    monkeypatch.setattr(asking, "MOST_BYTES", 1000)
    with http_stub(saying(b"[" + b" " * 2000 + b"]")) as url, pytest.raises(asking.TooMuch):
        asking.json_of("GET", url)


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

    def test_an_address_of_the_provider_keeps_its_own_parameters(self, firm, monkeypatch):
        provider = firm("http://idp").oidc
        found = discovery.Endpoints(
            issuer=provider.issuer, authorization="http://idp/go?p=x", token="t", keys="k"
        )
        monkeypatch.setattr(discovery, "endpoints_of", lambda _: found)
        location = Client().get(reverse("firm:start"))["Location"]
        assert location.startswith("http://idp/go?p=x&response_type=code&")
