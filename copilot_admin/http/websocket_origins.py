"""Lets WebSockets be opened by the pages of this server alone: same host, and same port.

A browser sends the cookies of a host to every port of it, so a page of another service on the same
machine would otherwise watch with the session of whoever visits it.
"""

from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from copilot_admin.http.asgi_types import App, Receive, Scope, Send, header

_PORTS = {"http": 80, "https": 443}


class SameOriginSockets:
    """ASGI middleware for WebSockets; a refused one is closed before it opens."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one connection."""
        if is_own_page(_text(scope, b"origin"), host=_text(scope, b"host")):
            await self.app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})


def is_own_page(origin: str, *, host: str) -> bool:
    """Whether a page of this server asks.

    Args:
        origin: Of the page, as its browser says.
        host: What the request is for, as its browser or the proxy says.
    """
    if settings.PUBLIC_URL and origin == _origin_of(settings.PUBLIC_URL):
        return True
    page, asked = _split(origin), _split(f"//{host}")
    if page is None or asked is None or page.scheme not in _PORTS:
        return False
    domain, _ = split_domain_port(host)
    if not validate_host(domain, settings.ALLOWED_HOSTS):
        return False
    usual = _PORTS[page.scheme]
    return (page.hostname, page.port or usual) == (asked.hostname, asked.port or usual)


def _origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def _split(text: str) -> SplitResult | None:
    try:
        parts = urlsplit(text)
        return parts if parts.hostname and (parts.port is None or parts.port) else None
    except ValueError:  # a port that is none, brackets that do not close
        return None


def _text(scope: Scope, name: bytes) -> str:
    return (header(scope, name) or b"").decode("latin-1")
