"""Networks that a setting names, and whether an address is in one of them."""

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import TypeAlias

from copilot_admin.config.env import BadSetting

Network: TypeAlias = IPv4Network | IPv6Network
EVERYBODY = "*"


def networks(texts: Iterable[str], *, setting: str) -> tuple[Network, ...]:
    """Addresses and networks as networks.

    Raises:
        BadSetting: One of them is none.
    """
    return tuple(_network(text, setting) for text in texts)


def believed_proxies(text: str, *, setting: str, production: bool) -> str:
    """The addresses of proxies as uvicorn reads them, which takes any word for an address.

    Raises:
        BadSetting: One is none, such as the name of a machine; or production would believe everybody.
    """
    if text == EVERYBODY and production:
        raise BadSetting(
            f"{setting} is *: everybody could say who he is. Name the addresses of your proxies."
        )
    networks((one.strip() for one in text.split(",") if one.strip() != EVERYBODY), setting=setting)
    return text


def is_in(address: str, those: Iterable[Network]) -> bool:
    """Whether an address is in one of the networks; an IPv4 address may be written as IPv6."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:  # a socket of this machine has none
        return False
    plain = getattr(parsed, "ipv4_mapped", None) or parsed
    return any(plain in network for network in those)


def _network(text: str, setting: str) -> Network:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise BadSetting(
            f"{setting} names {text!r}. Use addresses or networks such as 10.0.0.0/8."
        ) from None
