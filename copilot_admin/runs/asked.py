"""A question that was let in, as the journal is told of it and as the engine is asked it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
import hashlib

from django.conf import settings

from copilot_admin.agent.fetching.egress import Egress
from copilot_admin.agent.llm.choosing import choose_model
from copilot_admin.agent.llm.options import option_notes
from copilot_admin.agent.values.engine_input import EngineInput, Recollection
from copilot_admin.agent.values.witness import Witness
from copilot_admin.copilots.live import Answerer
from copilot_admin.copilots.users import named
from copilot_admin.runs.admitted_query import AdmittedQuery
from copilot_admin.transcripts.store import Opening
from protocol.query import Query

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
    """A query without what only the journal reads of its request, and soon."""
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
