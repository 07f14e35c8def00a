"""What the journal is told when a run opens, and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
import uuid
from uuid import UUID

from copilot_admin.agent.values.engine_input import Recollection
from copilot_admin.copilots.users import AskingUser
from copilot_admin.models import Logging
from copilot_admin.pricing.cost import Cost
from copilot_admin.redaction.rules import NO_RULES, Rules
from protocol.json import Json
from protocol.models import Generation, Query

BOOT_ID = uuid.uuid4().hex  # of this process; a run of another one may have lost its process


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What the journal writes of a run before its first byte.

    Attributes:
        trace_id: The chat's id if the client gave one; never one that the server made.
        query: What was asked; its `env` is kept beside the messages.
        version_id: None: a draft answers.
        redaction: What is taken out of all that is stored of the run.
        size: Of the request's body, in bytes, or of one that takes as long.
        provider: Name of the provider; "" when the copilot is not ready.
        user: Who asks; None: nobody named him.
        origin: Of a trial: the conversation whose question it asks again.
    """

    run_id: UUID
    copilot_id: int
    version_id: int | None
    version_number: int
    logging: Logging
    redaction: Rules = NO_RULES
    principal: str
    trace_id: str | None
    query: Query
    size: int
    provider: str
    model: str
    params: Mapping[str, Json]
    started_at: datetime
    user: AskingUser | None = None
    origin: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A request that was let in and then refused: a limit, a budget, a body that grew too large.

    Attributes:
        error: What the client was told; not kept where no content is.
        error_code: The class of the error.
        user: Who asked; None: nobody named him.
    """

    run_id: UUID
    copilot_id: int
    version_id: int | None
    logging: Logging
    principal: str
    started_at: datetime
    error: str
    error_code: str
    version_number: int = 0
    provider: str = ""
    model: str = ""
    generation: Generation = Generation.THREE
    ms: int = 0
    user: AskingUser | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A run that is in the journal; no conversation where nothing is kept."""

    conversation_id: int | None = None
    turn_id: int | None = None
    recollection: Recollection = field(default_factory=Recollection)


@dataclass(frozen=True, slots=True)
class Kept:
    """The end of a run that nothing can lose any more.

    Attributes:
        cost: What it cost; None: it is in the spool, or its run is gone, so nobody reckoned.
    """

    cost: Cost | None = None
