"""Where a request comes from, as failures are counted by it."""

from ipaddress import IPv6Address, ip_address, ip_network

from django.http import HttpRequest

NETWORK_BITS = 64  # one line of one household has all addresses of such a network


def client_address(request: HttpRequest) -> str | None:
    """Where a log-in comes from; uvicorn has looked through the proxies that it trusts.

    Addresses of IPv6 count by their network, else one machine has as many as it likes.
    """
    text = request.META.get("REMOTE_ADDR")
    try:
        address = ip_address(text or "")
    except ValueError:  # a socket of this machine, or Django's test client
        return None
    if isinstance(address, IPv6Address):
        return str(ip_network((int(address), NETWORK_BITS), strict=False).network_address)
    return str(address)
