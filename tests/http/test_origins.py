"""Origins that may call the API, and pages of this server."""

import asyncio
from typing import Any

import pytest

from copilot_admin.asgi import application
from copilot_admin.http.middleware import AllowedOrigins, allow_own_origin, is_own_origin
from copilot_admin.models import AllowedOrigin
from tests.http.asgi_client import scope

GIVEN, ADDED = "https://pro.openbb.co", "https://bank.example.com"


@pytest.fixture(autouse=True)
def hosts(settings) -> None:
    settings.ALLOWED_HOSTS = ["copilots.example.com", "localhost", "[::1]"]
    settings.PUBLIC_URL = ""


@pytest.mark.django_db
def test_origins_of_operators_count_in_addition_once_they_are_read():
    AllowedOrigin.objects.create(origin=ADDED)
    origins = AllowedOrigins([GIVEN], is_pinned=False)
    assert (GIVEN.encode() in origins, ADDED.encode() in origins) == (True, False)
    origins.refresh()
    assert (GIVEN.encode() in origins, ADDED.encode() in origins) == (True, True)
    AllowedOrigin.objects.all().delete()
    origins.refresh()
    assert (GIVEN.encode() in origins, ADDED.encode() in origins) == (True, False)
    assert None not in origins


@pytest.mark.django_db
def test_origins_that_the_deployment_pins_are_all_there_are():
    AllowedOrigin.objects.create(origin=ADDED)
    origins = AllowedOrigins([GIVEN])
    origins.refresh()
    assert (origins.load_added(), ADDED.encode() in origins) == ((), False)


@pytest.mark.parametrize(
    ("origin", "host", "is_own"),
    [
        ("http://localhost:7777", "localhost:7777", True),
        ("https://copilots.example.com", "copilots.example.com", True),
        ("https://copilots.example.com", "Copilots.Example.com", True),
        ("http://[::1]:7777", "[::1]:7777", True),
        ("http://localhost:3000", "localhost:7777", False),
        ("http://localhost", "localhost:7777", False),
        ("https://copilots.example.com:8443", "copilots.example.com", False),
        ("https://evil.test", "copilots.example.com", False),
        ("http://evil.test:7777", "evil.test:7777", False),
        ("ftp://localhost:7777", "localhost:7777", False),
        ("http://localhost:99999", "localhost:7777", False),
        ("null", "localhost:7777", False),
        ("http://localhost:7777", "", False),
    ],
)
def test_host_and_port_decide_whether_a_page_is_of_this_server(origin, host, is_own):
    assert is_own_origin(scope("/", headers={"Origin": origin, "Host": host})) is is_own


def test_the_public_url_counts_where_a_proxy_changes_the_host(settings):
    settings.PUBLIC_URL = "https://Copilots.example.com/"
    for origin, is_own in (
        ("https://copilots.example.com", True),
        ("https://copilots.example.com:8443", False),
    ):
        request = scope("/", headers={"Origin": origin, "Host": "10.0.0.1:7777"})
        assert is_own_origin(request) is is_own


def open_socket(app: Any, *, origin: str, path: str = "/ws/transcripts/1/") -> list[Any]:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    rows = [(b"origin", origin.encode()), (b"host", b"localhost:7777")]
    asyncio.run(app({"type": "websocket", "path": path, "headers": rows}, receive, send))
    return sent


def test_sockets_of_other_origins_are_closed_before_they_open():
    closed = [{"type": "websocket.close", "code": 1008}]
    assert open_socket(application, origin="http://localhost:3000") == closed


def test_sockets_of_this_server_pass():
    async def accept(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "websocket.accept"})

    own = open_socket(allow_own_origin(accept), origin="http://localhost:7777")
    assert own == [{"type": "websocket.accept"}]
