"""Which addresses a provider may have: private ones may be, link-local and metadata ones never."""

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TypeAlias
from urllib.parse import urlsplit

from copilot_admin.errors import NotReady

_Address: TypeAlias = IPv4Address | IPv6Address
# Metadata services of cloud providers that are not link-local: Alibaba, Oracle, AWS over IPv6.
_METADATA = frozenset(map(ip_address, ("100.100.100.200", "192.0.0.192", "fd00:ec2::254")))
_METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "metadata.goog"})
_NAT64 = ip_network("64:ff9b::/96")


class ForbiddenAddress(OSError):
    """A host name led to an address that no provider may have."""


@lru_cache(maxsize=256)
def check_base_url(url: str) -> str:
    """Returns the address of a provider, ready to be used.

    Raises:
        NotReady: It is no http(s) URL, holds a password, or names a forbidden host; the text says
            which.
    """
    url = url.strip()
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        raise NotReady(_wrong_url(url)) from None
    if parts.scheme not in ("http", "https") or not host or " " in url:
        raise NotReady(_wrong_url(url))
    if parts.username or parts.password:
        raise NotReady("The provider's address holds a password. Put the key into the key field.")
    if host.rstrip(".") in _METADATA_NAMES or is_forbidden(host):
        raise NotReady(forbidden_text(host))
    return url.rstrip("/")


def is_forbidden(host: str) -> bool:
    """Whether this is an IP address that no provider may have; a host name is not."""
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return any(one.is_link_local or one in _METADATA for one in _meanings(address))


def forbidden_text(host: str) -> str:
    """The sentence that says why an address is not asked."""
    return (
        f"The provider's host {host!r} leads to a link-local or metadata address, which no "
        "provider may have. Enter the address of a model server."
    )


def _meanings(address: _Address) -> tuple[_Address, ...]:
    """The address itself, and the IPv4 address that an IPv6 one may stand for."""
    if isinstance(address, IPv4Address):
        return (address,)
    embedded = [address.ipv4_mapped, address.sixtofour]
    if address in _NAT64:
        embedded.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return (address, *(one for one in embedded if one is not None))


def _wrong_url(url: str) -> str:
    return f"The provider's address {url!r} is no URL. Enter one like https://api.example.com/v1."
