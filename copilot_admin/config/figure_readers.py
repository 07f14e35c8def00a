"""Who may read the figures of the server."""

from collections.abc import Sequence
from dataclasses import dataclass
from hmac import compare_digest
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import TypeAlias

from copilot_admin.config.env import BadSetting

Network: TypeAlias = IPv4Network | IPv6Network
SHORTEST_TOKEN = 16  # characters
_BEARER = "bearer "


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureReaders:
    """Who may read the figures: who has the token, and comes from one of the networks.

    Attributes:
        token: Empty: none is needed.
        networks: Empty: every address will do. Without either nobody may, and nothing is counted.
    """

    token: str = ""
    networks: tuple[Network, ...] = ()

    @property
    def are_there(self) -> bool:
        """Whether anybody may read them."""
        return bool(self.token or self.networks)

    def come_from(self, address: str) -> bool:
        """Whether an address is one of theirs."""
        if not self.networks:
            return True
        try:
            parsed = ip_address(address)
        except ValueError:  # a socket of this machine has none
            return False
        plain = getattr(parsed, "ipv4_mapped", None) or parsed
        return any(plain in network for network in self.networks)

    def know(self, authorization: str) -> bool:
        """Whether a header has the token; compared in constant time."""
        if not self.token:
            return True
        given = authorization[len(_BEARER) :].strip()
        is_bearer = authorization[: len(_BEARER)].lower() == _BEARER
        return is_bearer and compare_digest(given.encode(), self.token.encode())


def figure_readers(token: str, networks: Sequence[str]) -> FigureReaders:
    """Who may read the figures, as the environment says.

    Args:
        token: Of `COPILOT_METRICS_TOKEN`.
        networks: Of `COPILOT_METRICS_ALLOW`: addresses or networks.

    Raises:
        BadSetting: The token is easily guessed, or one of the networks is none.
    """
    if token and len(token) < SHORTEST_TOKEN:
        raise BadSetting(
            f"COPILOT_METRICS_TOKEN is shorter than {SHORTEST_TOKEN} characters. Use a longer one."
        )
    return FigureReaders(token=token, networks=tuple(map(_network, networks)))


def _network(text: str) -> Network:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise BadSetting(
            f"COPILOT_METRICS_ALLOW names {text!r}. Use addresses or networks such as 10.0.0.0/8."
        ) from None
