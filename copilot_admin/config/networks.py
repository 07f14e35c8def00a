"""Networks, host names and web origins that settings name."""

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
import re
from typing import TypeAlias
from urllib.parse import urlsplit

Network: TypeAlias = IPv4Network | IPv6Network
ALL_NETWORKS: tuple[Network, ...] = (IPv4Network("0.0.0.0/0"), IPv6Network("::/0"))
# Web, preview, desktop, Excel, local and self-hosted OpenBB Workspace.
WORKSPACE_ORIGINS = (
    "https://pro.openbb.co",
    "https://pro.openbb.dev",
    "https://excel.openbb.co",
    "http://localhost:1420",
    "http://localhost",
    "http://localhost:3000",
    "http://localhost:5050",
    "http://localhost:8080",
)
# Other scripts arrive as Punycode, and the port isn't compared.
_HOST = re.compile(r"\*|(\*?\.)?[A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\]")


def parse_networks(listed: str | Iterable[str | Network]) -> tuple[Network, ...]:
    """Parse a comma-separated text or a list; an address is a network of one."""
    items = listed.split(",") if isinstance(listed, str) else map(str, listed)
    try:
        return tuple(ip_network(item.strip(), strict=False) for item in items if item.strip())
    except ValueError:
        raise ValueError("use IP addresses or networks, such as 10.0.0.0/8") from None


def covers_everyone(networks: Iterable[Network]) -> bool:
    """Return whether one of the networks holds every IPv4 or every IPv6 address."""
    return any(network.prefixlen == 0 for network in networks)


def is_in(address: str, networks: Iterable[Network]) -> bool:
    """Return whether an address is in one of the networks; IPv4 may be written as IPv6."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:  # a Unix socket has no address
        return False
    plain = getattr(parsed, "ipv4_mapped", None) or parsed
    return any(plain in network for network in networks)


def check_host(host: str) -> str:
    """Return a host name for `ALLOWED_HOSTS`; raise ValueError if it is more or less than that."""
    if not _HOST.fullmatch(host):
        raise ValueError("use host names without scheme, port and path: a.com,b.com")
    return host


def check_origin(origin: str) -> str:
    """Return an origin as browsers write it; raise ValueError if it is anything else."""
    parts = urlsplit(origin)
    is_exact = origin == f"{parts.scheme}://{parts.netloc}".lower() and parts.port != 0
    is_plain = origin.isascii() and origin.isprintable() and not set(origin) & set(" @*")
    if parts.scheme not in ("http", "https") or not parts.hostname or not (is_exact and is_plain):
        raise ValueError(
            "use scheme://host or scheme://host:port in lower case, without path and wildcards"
        )
    return origin
