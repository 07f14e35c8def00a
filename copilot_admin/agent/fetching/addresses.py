"""Permitted addresses of providers, and private ones, in every notation.

A provider may be in a private network, but never at a link-local or metadata address.
"""

from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
import re
import socket
from typing import TypeAlias
from unicodedata import normalize
from urllib.parse import SplitResult, urlsplit

from copilot_admin.errors import NotReady

Address: TypeAlias = IPv4Address | IPv6Address
# Metadata services of cloud providers that are not link-local: Alibaba, Oracle, AWS over IPv6.
_METADATA = frozenset(map(ip_address, ("100.100.100.200", "192.0.0.192", "fd00:ec2::254")))
_METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "metadata.goog"})
# IANA allocates public addresses only from this range; part of it is for documentation.
_GLOBAL_UNICAST = ip_network("2000::/3")
_DOCUMENTATION = ip_network("3fff::/20")
# Newer Pythons treat the first as private too; the second led to the nearest 6to4 relay (RFC 7526).
_OF_NOBODY = (ip_network("192.0.0.0/24"), ip_network("192.88.99.0/24"))
_TRANSLATED = ip_network("64:ff9b::/96")  # RFC 6052: an IPv4 address is in the last 32 bits
_ISATAP = (0x00005EFE, 0x02005EFE)  # RFC 5214: before the last 32 bits
MAX_URL_LENGTH = 16 * 1024  # characters; most servers reject longer request lines
# Paths of single requests, which users paste with the URL.
_REQUEST_PATH = re.compile(r"/(?:chat/completions|completions|responses|models|embeddings)/*$")


class ForbiddenAddress(OSError):
    """A host name resolves to a forbidden address."""


def parts_of(url: str) -> SplitResult:
    """Split a URL from an untrusted source; a `ValueError` says that it is none, or too long."""
    if len(url) > MAX_URL_LENGTH:
        raise ValueError("the address is too long")
    return urlsplit(url)


@lru_cache(maxsize=256)
def check_base_url(url: str) -> str:
    """Return the URL of a provider, ready for use.

    Raises `NotReady` if it is not an http(s) URL, contains a password, or names a forbidden host.
    """
    url = url.strip()
    wrong = f"The provider's address {url!r} is no URL. Enter one like https://api.example.com/v1."
    try:
        parts = parts_of(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        raise NotReady(wrong) from None
    is_plain = url.isprintable() and " " not in url
    if parts.scheme not in ("http", "https") or not host or not is_plain:
        raise NotReady(wrong)
    if parts.username or parts.password:
        raise NotReady("The provider's address holds a password. Put the key into the key field.")
    if host.rstrip(".") in _METADATA_NAMES or is_forbidden(host):
        raise NotReady(forbidden_text(host))
    return url.rstrip("/")


def correct_base_url(url: str) -> str:
    """Return a base URL without the path of a single request; its query is unchanged."""
    before, mark, query = url.strip().partition("?")
    return f"{_REQUEST_PATH.sub('', before).rstrip('/')}{mark}{query}"


def is_forbidden(host: str) -> bool:
    address = address_of(host)
    meanings = (address, *_embedded(address)) if address else ()
    return any(one.is_link_local or one in _METADATA for one in meanings)


def is_public(host: str) -> bool:
    address = address_of(host)
    if address is None:
        return False
    ipv4 = _embedded(address)
    if not all(map(_is_public_ipv4, ipv4)):
        return False
    if isinstance(address, IPv4Address):
        return _is_public_ipv4(address)
    if address.ipv4_mapped or address in _TRANSLATED:  # another spelling of the IPv4 address
        return True
    is_given = address in _GLOBAL_UNICAST and address not in _DOCUMENTATION
    return is_given and address.is_global


def forbidden_text(host: str) -> str:
    return (
        f"The provider's host {host!r} leads to a link-local or metadata address, which no "
        "provider may have. Enter the address of a model server."
    )


def is_this_machine(host: str) -> bool:
    return ("." + host.lower().rstrip(".")).endswith(".localhost")


def address_of(host: str) -> Address | None:
    """Return a host's IP address in any notation that resolvers accept, or None for a name."""
    # Clients connect to a host with other digits and full stops mapped (UTS 46), without the zone.
    host = normalize("NFKC", host).replace("\u3002", ".").partition("%")[0].rstrip(".")
    with suppress(ValueError):
        return ip_address(host)
    with suppress(OSError, ValueError):
        return IPv4Address(socket.inet_aton(host))  # octal, hexadecimal, one number
    return None


def _is_public_ipv4(address: IPv4Address) -> bool:
    is_somebodys = not any(address in network for network in _OF_NOBODY)
    return is_somebodys and address.is_global and not address.is_multicast


def _embedded(address: Address) -> list[IPv4Address]:
    """Return the IPv4 addresses to which an IPv6 address may lead."""
    if isinstance(address, IPv4Address):
        return []
    is_in_last_bits = address in _TRANSLATED or int(address) >> 32 & 0xFFFFFFFF in _ISATAP
    last = IPv4Address(int(address) & 0xFFFFFFFF) if is_in_last_bits else None
    return [one for one in (address.ipv4_mapped, address.sixtofour, last) if one is not None]
