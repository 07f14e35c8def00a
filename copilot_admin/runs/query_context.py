"""Context of an admitted query: inputs of the store, the agent and telemetry."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
import hashlib
from time import monotonic_ns
from typing import Any

from django.conf import settings

from copilot_admin.agent.fetching.egress import Egress
from copilot_admin.agent.llm.model_choice import choose_model, option_notes
from copilot_admin.agent.values.answer_request import AnswerRequest, StoredTurn
from copilot_admin.agent.values.tracing import Tracer
from copilot_admin.copilots.callers import Caller
from copilot_admin.copilots.end_users import AskingUser, named
from copilot_admin.copilots.live import Answerer, LiveCopilot
from copilot_admin.ids import Ids
from copilot_admin.limits.rules import RequestIdentity
from copilot_admin.models import Logging, Outcome
from copilot_admin.telemetry.finished_runs import FinishedRun, RunObserver, RunTimes, wants_content
from copilot_admin.transcripts.matching.requests import RunStart
from protocol.models import Query


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class AdmittedQuery:
    """A query that was admitted, with its caller and its copilot."""

    live: LiveCopilot
    caller: Caller
    query: Query
    ids: Ids
    size: int  # bytes of the request's body
    received_at: int = field(default_factory=monotonic_ns)  # time of arrival (`monotonic_ns`)
    user: AskingUser | None = None  # the end user, if a trusted party named them
    address: str = ""  # network of the client; "" for requests of this process
    origin: int | None = None  # conversation whose question a trial repeats

    @property
    def identity(self) -> RequestIdentity:
        return RequestIdentity(
            copilot_id=self.live.id,
            key_id=self.caller.key_id,
            user=self.user.id if self.user else "",
            address=self.address,
            is_trial=self.caller.is_trying,
            is_recorded=self.live.logging is not Logging.NOTHING,
        )


def run_start_of(
    question: AdmittedQuery, answerer: Answerer | None, *, started_at: datetime
) -> RunStart:
    """Return the stored start of a run; without an answerer the copilot isn't ready."""
    spec = answerer.spec if answerer else None
    query, model = question.query, ""
    if spec:
        model, note = choose_model(spec, query)
        notes = [note, *option_notes(spec, query)]
        query = replace(query, notes=(*query.notes, *filter(None, notes)))
    return RunStart(
        run_id=question.ids.run_id,
        copilot_id=question.live.id,
        version_id=question.live.version_id,
        logging=question.live.logging,
        redaction=question.live.redaction,
        principal=question.caller.principal,
        trace_id=question.ids.chat_id,
        query=query,
        size=question.size,
        provider=spec.provider.name if spec else "",
        model=model,
        params=spec.parameters if spec else {},
        started_at=started_at,
        user=question.user,
        origin=question.origin,
    )


def run_facts(question: AdmittedQuery) -> dict[str, Any]:
    """Return the facts about a query for telemetry, as fields of `FinishedRun`."""
    return {
        "copilot": question.live.slug,
        "version": question.live.version_number,
        "caller": question.caller.principal,
        "user": named(question.user, settings.USER_IN_LOGS),
        "is_trial": question.caller.is_trying,
        "generation": question.query.generation,
    }


def observe_run(
    question: AdmittedQuery, start: RunStart, *, answerer: Answerer | None
) -> RunObserver:
    """Start observing a run; without an answerer the copilot isn't ready."""
    ids, live = question.ids, question.live
    provider = answerer.spec.provider if answerer else None
    run = FinishedRun(
        run_id=ids.run_id,
        trace_id=ids.trace_id,
        chat_id=ids.chat_id,
        traceparent=ids.traceparent,
        outcome=Outcome.RUNNING,
        started_at=start.started_at,
        provider=start.provider,
        provider_kind=provider.kind if provider else "",
        provider_url=provider.base_url if provider else "",
        model=start.model,
        times=RunTimes(received=question.received_at),
        # Redaction doesn't cover traces.
        keeps_content=live.logging is Logging.EVERYTHING and not live.redaction,
        **run_facts(question),
    )
    return RunObserver(run, wants_content=wants_content())


def build_answer_request(
    question: AdmittedQuery,
    answerer: Answerer,
    *,
    now: datetime,
    load_stored_turn: Callable[[], Awaitable[StoredTurn]],
    tracer: Tracer,
) -> AnswerRequest:
    user = question.user
    return AnswerRequest(
        spec=answerer.spec,
        query=question.query,
        provider=answerer.provider,
        fallbacks=answerer.fallbacks,
        now=now,
        trace_id=question.ids.trace_id,
        chat_id=question.ids.chat_id,
        signing_key=signing_key(settings.SECRET_KEY),
        # Oldest first; clients return signed values for up to a day.
        older_keys=tuple(map(signing_key, reversed(settings.SECRET_KEY_FALLBACKS))),
        load_stored_turn=load_stored_turn,
        fetch=Egress(settings.FETCH_ALLOW).fetch,
        user_id=user.id if user else "",
        user_email=(user.email or None) if user else None,
        upstream_user=named(user, settings.USER_UPSTREAM),
        principal=question.caller.principal,
        tracer=tracer,
    )


@cache
def signing_key(secret: str) -> bytes:
    """Return the key that signs values that travel through the client."""
    return hashlib.sha256(b"extra-state:" + secret.encode()).digest()
