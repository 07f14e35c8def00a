"""A query that was let in: what a run is opened for."""

from dataclasses import dataclass, field
from time import monotonic_ns

from copilot_admin.copilots.callers import Caller
from copilot_admin.copilots.live import LiveCopilot
from copilot_admin.copilots.users import AskingUser
from copilot_admin.ids import Ids
from copilot_admin.limits.rules import RequestIdentity
from copilot_admin.models import Logging
from protocol.query import Query


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class AdmittedQuery:
    """A query that was let in: who asks whom, and what.

    Attributes:
        size: Of the request's body, in bytes, or of one that takes as long.
        came: When the request was there (`monotonic_ns`).
        user: Who asks, if somebody who is trusted named him.
        address: The network that the request came from; "": this process asks.
        origin: Of a trial: the conversation whose question it asks again.
    """

    live: LiveCopilot
    caller: Caller
    query: Query
    ids: Ids
    size: int
    came: int = field(default_factory=monotonic_ns)
    user: AskingUser | None = None
    address: str = ""
    origin: int | None = None

    @property
    def identity(self) -> RequestIdentity:
        """The caller, as limits see it."""
        return RequestIdentity(
            copilot_id=self.live.id,
            key_id=self.caller.key_id,
            user=self.user.id if self.user else "",
            address=self.address,
            is_trial=self.caller.is_trying,
            is_recorded=self.live.logging is not Logging.NOTHING,
        )
