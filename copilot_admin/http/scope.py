"""ASGI types, and helpers that read a request scope."""

from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import IPv6Address, ip_address
import re
from typing import Any, TypeAlias

# ASGI messages are open dictionaries by specification; `Any` is what they hold.
Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers: TypeAlias = list[tuple[bytes, bytes]]

IDS_KEY = "copilot_admin.ids"  # of every API request
REQUEST_ID_KEY = "copilot_admin.request_id"  # of the component API, in addition
HEALTH_PATHS = frozenset({"/healthz", "/readyz"})
METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
_DISCOVERY_PATHS = frozenset({"/copilots.json", "/agents.json"})
_EXACT_ROUTES = {"/", "/docs", "/metrics", "/openapi.json", *HEALTH_PATHS, *_DISCOVERY_PATHS}
_COPILOT_ROUTE = re.compile(r"/v1/copilots/[^/]+/(query|feedback|image)\Z")
_ROUTE_PREFIXES = ("/admin/", "/static/", "/v2/")
_IPV6_HOST_BITS = 64  # one customer owns a whole /64
_MAX_ADDRESS_LENGTH = 64  # of text from a proxy that is not an IP address


def is_api(path: str) -> bool:
    """Return whether a path belongs to the HTTP API, which other origins may call."""
    return path.startswith(("/v1/", "/v2/")) or path in _DISCOVERY_PATHS


def is_component_api(path: str) -> bool:
    return path.startswith("/v2/")


def get_route_name(path: str) -> str:
    """Return the metrics label of a path: one of a closed set, whatever clients send."""
    if path in _EXACT_ROUTES:
        return path
    if match := _COPILOT_ROUTE.match(path):
        return f"/v1/copilots/{{slug}}/{match[1]}"
    return next((prefix for prefix in _ROUTE_PREFIXES if path.startswith(prefix)), "other")


def get_header(scope: Scope, name: bytes) -> bytes | None:
    """Return the first value of a request header; the name is in lower case."""
    return next((bytes(value) for key, value in scope["headers"] if key == name), None)


def get_joined_header(scope: Scope, name: str) -> str | None:
    """Return a request header as Django reads it: repeated headers are joined with commas."""
    wanted = name.lower().encode()
    values = [value for key, value in scope["headers"] if key == wanted]
    return b",".join(values).decode("latin-1") if values else None


def replay(message: Message, receive: Receive) -> Receive:
    """Return a `receive` that yields one message again before those of the server."""
    pending = [message]

    async def receive_replayed() -> Message:
        return pending.pop() if pending else await receive()

    return receive_replayed


def get_client_address(scope: Scope) -> str:
    """Return the address of the client; empty if the server does not know it."""
    return str((scope.get("client") or ("",))[0])


def get_client_network(address: str) -> str:
    """Return the network that an address is counted by: an IPv4 address, or an IPv6 /64."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address[:_MAX_ADDRESS_LENGTH]
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Address(int(parsed) >> _IPV6_HOST_BITS << _IPV6_HOST_BITS))
