"""WebSockets are for the pages of this server: same host and port."""

import asyncio
from typing import Any

import pytest

from copilot_admin.asgi import application
from copilot_admin.http.websocket_origins import SameOriginSockets, is_own_page


@pytest.fixture(autouse=True)
def hosts(settings) -> None:
    settings.ALLOWED_HOSTS = ["copilots.example.com", "localhost", "[::1]"]
    settings.PUBLIC_URL = ""


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:7777", "localhost:7777"),
        ("https://copilots.example.com", "copilots.example.com"),
        ("https://copilots.example.com", "copilots.example.com:443"),
        ("http://copilots.example.com:80", "copilots.example.com"),
        ("https://copilots.example.com", "Copilots.Example.com"),
        ("http://[::1]:7777", "[::1]:7777"),
    ],
)
def test_a_page_of_this_server_may_open_one(origin, host):
    assert is_own_page(origin, host=host)


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:3000", "localhost:7777"),
        ("http://localhost", "localhost:7777"),
        ("https://copilots.example.com:8443", "copilots.example.com"),
        ("https://evil.test", "copilots.example.com"),
        ("http://evil.test:7777", "evil.test:7777"),
        ("https://copilots.example.com.evil.test", "copilots.example.com"),
        ("ftp://localhost:7777", "localhost:7777"),
        ("http://localhost:port", "localhost:7777"),
        ("http://localhost:99999", "localhost:7777"),
        ("http://[::1", "[::1]:7777"),
        ("null", "localhost:7777"),
        ("", "localhost:7777"),
        ("http://localhost:7777", ""),
        ("http://localhost:0", "localhost:0"),
    ],
)
def test_no_other_page_may(origin, host):
    assert not is_own_page(origin, host=host)


def test_the_public_address_counts_where_a_proxy_changes_the_host(settings):
    settings.PUBLIC_URL = "https://Copilots.example.com/"
    assert is_own_page("https://copilots.example.com", host="10.0.0.1:7777")
    assert not is_own_page("https://copilots.example.com:8443", host="10.0.0.1:7777")


def opened(app: Any, headers: dict[str, str], *, path: str = "/ws/transcripts/1/") -> list[Any]:
    """What an application sends to a browser that opens a WebSocket."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    rows = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    asyncio.run(app({"type": "websocket", "path": path, "headers": rows}, receive, send))
    return sent


def test_the_application_closes_what_another_port_opens():
    headers = {"Origin": "http://localhost:3000", "Host": "localhost:7777"}
    assert opened(application, headers) == [{"type": "websocket.close", "code": 1008}]


def test_what_an_own_page_opens_is_handed_on():
    async def accept(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "websocket.accept"})

    headers = {"Origin": "http://localhost:7777", "Host": "localhost:7777"}
    assert opened(SameOriginSockets(accept), headers) == [{"type": "websocket.accept"}]


@pytest.mark.parametrize("path", ["/", "/ws/nowhere/", "/ws/transcripts/\0/", "/healthz"])
def test_a_socket_to_nowhere_is_closed(path):
    headers = {"Origin": "http://localhost:7777", "Host": "localhost:7777"}
    assert opened(application, headers, path=path) == [{"type": "websocket.close"}]
