"""Context of an admitted query."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
import hashlib
from time import monotonic_ns

from django.conf import settings

from copilot_admin.agent.fetching.egress import Egress
from copilot_admin.agent.llm.model_choice import choose_model, option_notes
from copilot_admin.agent.values.engine_input import EngineInput, Recollection
from copilot_admin.agent.values.witness import Witness
from copilot_admin.copilots.callers import Caller
from copilot_admin.copilots.live import Answerer, LiveCopilot
from copilot_admin.copilots.users import AskingUser, named
from copilot_admin.ids import Ids
from copilot_admin.limits.rules import RequestIdentity
from copilot_admin.models import Logging
from copilot_admin.transcripts.store import Opening
from protocol.models import Query


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


SHORT = 32 * 1024  # bytes of a request that is not worth a copy of its query


def opening_of(
    question: AdmittedQuery, answerer: Answerer | None, *, started_at: datetime
) -> Opening:
    """What the journal is told of a run that begins.

    Args:
        question: That is answered.
        answerer: Who answers; None: the copilot is not ready.
        started_at: When it begins.
    """
    spec = answerer.spec if answerer else None
    model, note = choose_model(spec, question.query) if spec else ("", "")
    notes = [note, *option_notes(spec, question.query)] if spec else []
    return Opening(
        run_id=question.ids.run_id,
        copilot_id=question.live.id,
        version_id=question.live.version_id,
        version_number=question.live.version_number,
        logging=question.live.logging,
        redaction=question.live.redaction,
        principal=question.caller.principal,
        trace_id=question.ids.chat_id,
        query=_noted(question.query, notes),
        size=question.size,
        provider=spec.provider.name if spec else "",
        model=model,
        params=spec.parameters if spec else {},
        started_at=started_at,
        user=question.user,
        origin=question.origin,
    )


def engine_input_of(
    question: AdmittedQuery,
    answerer: Answerer,
    *,
    now: datetime,
    recall: Callable[[], Awaitable[Recollection]],
    witness: Witness,
) -> EngineInput:
    """What the engine is asked.

    Args:
        question: That is answered.
        answerer: Who answers.
        now: When the run began.
        recall: Reads what the chat said before.
        witness: Is told what the engine does.
    """
    user = question.user
    return EngineInput(
        spec=answerer.spec,
        query=_without_request(question.query) if question.size > SHORT else question.query,
        provider=answerer.provider,
        fallbacks=answerer.fallbacks,
        now=now,
        trace_id=question.ids.trace_id,
        chat_id=question.ids.chat_id,
        signing_key=signing_key(),
        older_keys=older_signing_keys(),
        recall=recall,
        fetch=Egress(settings.FETCH_ALLOW).fetch,
        user_id=user.id if user else "",
        user_email=(user.email or None) if user else None,
        told_user=named(user, settings.USER_UPSTREAM),
        principal=question.caller.principal,
        size=question.size,
        witness=witness,
    )


def _without_request(query: Query) -> Query:
    options = {key: one for key, one in query.env.items() if key == "workspace_options"}
    return replace(query, env=options)


def signing_key() -> bytes:
    """The key that signs what travels through the client."""
    return _signing_key(settings.SECRET_KEY)


def older_signing_keys() -> tuple[bytes, ...]:
    """The keys that signed it before, oldest first: clients bring it back for a day."""
    return tuple(map(_signing_key, reversed(settings.SECRET_KEY_FALLBACKS)))


@cache
def _signing_key(secret: str) -> bytes:
    return hashlib.sha256(b"extra-state:" + secret.encode()).digest()


def _noted(query: Query, notes: Sequence[str]) -> Query:
    said = tuple(filter(None, notes))
    return replace(query, notes=(*query.notes, *said)) if said else query
