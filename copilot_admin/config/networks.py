"""Networks that a setting names, and whether an address is in one of them."""

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_address, ip_network
from typing import TypeAlias

from copilot_admin.config.env import BadSetting

Network: TypeAlias = IPv4Network | IPv6Network
EVERYBODY = "*"
_MAPPED_BITS = 96  # before an IPv4 address in one of IPv6


def networks(
    texts: Iterable[str], *, setting: str, production: bool = False
) -> tuple[Network, ...]:
    """Addresses and networks as networks.

    Args:
        texts: As somebody wrote them; a network may be named by any address in it.
        setting: Where.
        production: That what they say of others is believed, and not of everybody.

    Raises:
        BadSetting: One of them is none, or together they are all that there are.
    """
    found = tuple(_network(text, setting) for text in texts)
    if production and is_everybody(found):
        raise BadSetting(_everybody(setting, "all addresses that there are"))
    return found


def is_everybody(those: Iterable[Network]) -> bool:
    """Whether networks are together all addresses of a kind, as two halves of them are."""
    given = list(those)
    fours = collapse_addresses(one for one in given if isinstance(one, IPv4Network))
    sixes = collapse_addresses(one for one in given if isinstance(one, IPv6Network))
    return 0 in (*(one.prefixlen for one in fours), *(one.prefixlen for one in sixes))


def believed_proxies(text: str, *, setting: str, production: bool) -> str:
    """The addresses of proxies as uvicorn reads them.

    It takes any word for an address, and a network only by its first one: of `10.1.2.3/8` it
    believed nobody, and said nothing.

    Raises:
        BadSetting: One is none, such as the name of a machine; or production would believe everybody.
    """
    if text == EVERYBODY:
        if production:
            raise BadSetting(_everybody(setting, EVERYBODY))
        return text
    named = filter(None, map(str.strip, text.split(",")))
    found = networks(named, setting=setting, production=production)
    return ",".join(str(one[0]) if one.num_addresses == 1 else str(one) for one in found)


def trusted_proxies(text: str) -> tuple[Network, ...]:
    """Return the networks of a checked `FORWARDED_ALLOW_IPS`; `*` means every address."""
    listed = ["0.0.0.0/0", "::/0"] if text == EVERYBODY else filter(None, text.split(","))
    return networks(listed, setting="FORWARDED_ALLOW_IPS")


def is_in(address: str, those: Iterable[Network]) -> bool:
    """Whether an address is in one of the networks; an IPv4 address may be written as IPv6."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:  # a socket of this machine has none
        return False
    plain = getattr(parsed, "ipv4_mapped", None) or parsed
    return any(plain in network for network in those)


def _everybody(setting: str, what: str) -> str:
    return (
        f"{setting} is {what}: everybody could say who he is. Name the addresses of your proxies."
    )


def _network(text: str, setting: str) -> Network:
    """A network; one of IPv4 may be written as IPv6, as addresses that connect are."""
    try:
        found = ip_network(text, strict=False)
        mapped = getattr(found.network_address, "ipv4_mapped", None)
        within = found.prefixlen - _MAPPED_BITS
        return ip_network((mapped, within)) if mapped and within >= 0 else found
    except ValueError:
        raise BadSetting(
            f"{setting} names {text!r}. Use addresses or networks such as 10.0.0.0/8."
        ) from None
