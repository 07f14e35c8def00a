"""The network as which an address is counted: whoever has one of IPv6 has very many."""

from ipaddress import IPv6Address, ip_address

_NETWORK_BITS = 64  # of an IPv6 address: one customer has all addresses below them
# Of what is no address: a proxy that is trusted may hand on 64 kB of a header that its client wrote.
_LONGEST = 64


def network_of(address: str) -> str:
    """What an address is counted by; whoever comes without one is counted together.

    Behind a proxy the address is what the server made of its headers (FORWARDED_ALLOW_IPS).
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return address[:_LONGEST]
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    host_bits = 128 - _NETWORK_BITS
    return str(IPv6Address(int(parsed) >> host_bits << host_bits))
