"""Who may read the figures of the server."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hmac import compare_digest

from copilot_admin.config import networks as config_networks
from copilot_admin.config.env import BadSetting
from copilot_admin.config.networks import Network, is_in

SHORTEST_TOKEN = 16  # characters
_BEARER = "bearer "


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureReaders:
    """Who may read the figures: who has the token, and comes from one of the networks.

    Attributes:
        token: Empty: none is needed.
        networks: Empty: every address will do. Without either nobody may, and nothing is counted.
    """

    token: str = field(default="", repr=False)
    networks: tuple[Network, ...] = ()

    @property
    def are_there(self) -> bool:
        """Whether anybody may read them."""
        return bool(self.token or self.networks)

    def come_from(self, address: str) -> bool:
        """Whether an address is one of theirs."""
        return not self.networks or is_in(address, self.networks)

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
    allowed = config_networks.networks(networks, setting="COPILOT_METRICS_ALLOW")
    return FigureReaders(token=token, networks=allowed)
