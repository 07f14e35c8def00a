"""A query that was let in: what a run is opened for."""

from dataclasses import dataclass, field
from time import monotonic_ns

from copilot_admin.copilots.callers import Caller
from copilot_admin.copilots.live import LiveCopilot
from copilot_admin.copilots.users import AskingUser
from copilot_admin.ids import Ids
from protocol.query import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedQuery:
    """A query that was let in: who asks whom, and what.

    Attributes:
        size: Of the request's body, in bytes.
        came: When the request was there (`monotonic_ns`).
        user: Who asks, if somebody who is trusted named him.
    """

    live: LiveCopilot
    caller: Caller
    query: Query
    ids: Ids
    size: int
    came: int = field(default_factory=monotonic_ns)
    user: AskingUser | None = None
