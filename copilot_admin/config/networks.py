"""Networks that settings name, and the addresses in them."""

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_address, ip_network
from typing import TypeAlias

Network: TypeAlias = IPv4Network | IPv6Network
ALL_NETWORKS: tuple[Network, ...] = (IPv4Network("0.0.0.0/0"), IPv6Network("::/0"))


def parse_networks(listed: str | Iterable[str | Network]) -> tuple[Network, ...]:
    """Parse a comma-separated text or a list; an address is a network of one."""
    items = listed.split(",") if isinstance(listed, str) else map(str, listed)
    try:
        return tuple(ip_network(item.strip(), strict=False) for item in items if item.strip())
    except ValueError:
        raise ValueError("use IP addresses or networks, such as 10.0.0.0/8") from None


def covers_everyone(networks: Iterable[Network]) -> bool:
    """Return whether the networks together hold every IPv4 or every IPv6 address."""
    listed = tuple(networks)
    v4 = collapse_addresses([one for one in listed if isinstance(one, IPv4Network)])
    v6 = collapse_addresses([one for one in listed if isinstance(one, IPv6Network)])
    return any(one.prefixlen == 0 for one in v4) or any(one.prefixlen == 0 for one in v6)


def is_in(address: str, networks: Iterable[Network]) -> bool:
    """Return whether an address is in one of the networks; IPv4 may be written as IPv6."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:  # a Unix socket has no address
        return False
    plain = getattr(parsed, "ipv4_mapped", None) or parsed
    return any(plain in network for network in networks)
