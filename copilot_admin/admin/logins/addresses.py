"""Where a request comes from, as failures are counted by it."""

from ipaddress import ip_address

from django.http import HttpRequest

from copilot_admin.http.scope import get_client_network


def counted_address(text: str) -> str:
    """What failures from an address are counted by.

    Addresses of IPv6 count by their network, else one machine has as many as it likes. One of IPv4
    that is written as IPv6, as on a socket for both, is itself: all of them are one such network.

    Raises:
        ValueError: It is none.
    """
    ip_address(text)
    return get_client_network(text)


def client_address(request: HttpRequest) -> str | None:
    """Where a log-in comes from; uvicorn has looked through the proxies that it trusts."""
    try:
        return counted_address(request.META.get("REMOTE_ADDR") or "")
    except ValueError:  # a socket of this machine, or Django's test client
        return None
