"""Follows one run, and tells of it when it has ended."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from time import monotonic_ns
from typing import Any

from copilot_admin.agent.values.witness import Fact, Witness
from copilot_admin.ids import Ids
from copilot_admin.telemetry.ended_run import ClientCall, EndedRun, Moments, RunEnd
from copilot_admin.telemetry.tracing import wants_words
from copilot_admin.telemetry.watchers import tell
from protocol.json import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedRun:
    """What is known of a run when it begins; see `EndedRun`."""

    ids: Ids
    copilot: str
    version: int
    caller: str
    is_trial: bool
    generation: int
    provider: str
    provider_kind: str
    provider_address: str
    model: str
    keeps_content: bool
    started_at: datetime
    came: int
    user: str = ""


class RunWatch:
    """Notes what happens in a run; costs next to nothing, and nothing at all for each chunk."""

    def __init__(self, run: WatchedRun) -> None:
        self._run = run
        self._admitted = monotonic_ns()
        self._accepted: int | None = None
        self._finishing: int | None = None
        self._facts: list[Fact] = []
        # A method of this object would make a circle, in which the facts and with them all that the
        # model was told would stay until the collector comes by.
        self.witness = Witness(
            self._facts.append, wants_content=run.keeps_content and wants_words()
        )
        self._client_calls: list[ClientCall] = []

    def accepted(self, acceptance: asyncio.Future[Any]) -> None:
        """The journal has the run, or cannot take it."""
        if acceptance.cancelled() or acceptance.exception() is not None:
            return
        self._accepted = monotonic_ns()

    def finishing(self) -> None:
        """The answer is over, and goes to the journal."""
        self._finishing = monotonic_ns()

    def client_called(self, function: str, arguments: JsonObject) -> None:
        """The client is asked to do something."""
        call = ClientCall(function=function, arguments=arguments, at=monotonic_ns())
        self._client_calls.append(call)

    def ended(self, end: RunEnd) -> None:
        """The run has ended; everybody is told."""
        moments = Moments(
            came=self._run.came,
            admitted=self._admitted,
            accepted=self._accepted,
            finishing=self._finishing,
            ended=monotonic_ns(),
        )
        tell(self._ended_run(end, moments))

    def _ended_run(self, end: RunEnd, moments: Moments) -> EndedRun:
        run = self._run
        return EndedRun(
            run_id=run.ids.run_id,
            trace_id=run.ids.trace_id,
            chat_id=run.ids.chat_id,
            copilot=run.copilot,
            version=run.version,
            caller=run.caller,
            user=run.user,
            is_trial=run.is_trial,
            generation=run.generation,
            outcome=end.outcome,
            error_code=end.error_code,
            started_at=run.started_at,
            ms=end.ms,
            first_ms=end.first_ms,
            provider=run.provider,
            provider_kind=run.provider_kind,
            provider_address=run.provider_address,
            model=run.model,
            usage=end.usage,
            cost=end.cost,
            cost_confidence=end.cost_confidence,
            moments=moments,
            facts=tuple(self._facts),
            client_calls=tuple(self._client_calls),
            keeps_content=run.keeps_content,
            traceparent=run.ids.traceparent,
        )
