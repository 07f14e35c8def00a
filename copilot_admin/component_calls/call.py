"""Carries out a call of a component over HTTP, in a task of its own, and keeps what came of it.

The answer is only a pump over what the task yields, so that a caller who leaves stops the component
at once, and the record never waits for a caller.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings

from copilot_admin.agent.component_runs.run import ComponentRun, arguments_in
from copilot_admin.agent.components.inputs import DOCUMENTS, MODEL, ModelDoor, from_server
from copilot_admin.agent.fetching.egress import Egress
from copilot_admin.agent.llm.retries import Pace
from copilot_admin.component_calls.access import Grant
from copilot_admin.component_calls.files import read_files
from copilot_admin.component_calls.records import keep, owner_of
from copilot_admin.copilots.live import LiveCopilot
from copilot_admin.copilots.users import named
from copilot_admin.errors import (
    BadArguments,
    ComponentFailed,
    CopilotError,
    InvalidCall,
    TooManyCalls,
    Unavailable,
)
from copilot_admin.ids import Ids
from copilot_admin.models import CallStatus, ComponentCall, Logging
from copilot_admin.redaction.rules import server_rules
from copilot_admin.runs.open_run import is_draining
from copilot_admin.runs.tasks import spawn
from protocol.components import ComponentOutput, from_caller
from protocol.json import JsonObject

MOST_CALLS = 128  # of this process at once
MOST_CALLS_OF_A_KEY = 64
RESTARTING = "The server is restarting. Call again in a few seconds."
REFUSED = "The arguments were refused."
BROKE = "Something went wrong on the server. It has been recorded."


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedCall:
    """A call that was let in: who calls which component, with what.

    Attributes:
        parameters: As the caller sent them: arguments and system inputs.
        as_program: Asks for `run` instead of `tool_eval`.
        streamed: The answer is to come in pieces.
    """

    granted: Grant
    parameters: JsonObject
    as_program: bool
    streamed: bool
    ids: Ids
    request_id: str

    @property
    def arguments(self) -> JsonObject:
        """The arguments among the parameters."""
        question = self.parameters.get("_sys_origin_query") or ""
        return arguments_in(self.granted.component, self.parameters, question=str(question))


class Call:
    """One call being carried out; lives in the event loop that opened it."""

    def __init__(self, asked: AdmittedCall) -> None:
        self.asked = asked
        self.started_at = datetime.now(UTC)
        self.run = ComponentRun(
            asked.granted.component,
            asked.arguments,
            config=asked.granted.config,
            as_program=asked.as_program,
            streamed=asked.streamed,
        )
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._waiting: asyncio.Queue[ComponentOutput | None] = asyncio.Queue()
        keeps = self._logging is not Logging.NOTHING
        self._owner = owner_of(asked.granted.caller.user if keeps else None, at=self.started_at)
        CALLS.add(self)
        self.task = spawn(self._conduct(), name=f"call of {asked.granted.component.name}")
        self.task.add_done_callback(self._ended)

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return self._loop.time() - self._started

    async def outputs(self) -> AsyncGenerator[ComponentOutput, None]:
        """What the component yields; closing this early stops it.

        Raises:
            CopilotError: It gave no whole result; the text says why.
        """
        try:
            while (output := await self._waiting.get()) is not None:
                yield output
        finally:
            self.stop()
        if self.task.cancelled():
            raise Unavailable(RESTARTING, code="draining")
        error = self.task.exception()
        if error is not None:
            raise error if isinstance(error, CopilotError) else ComponentFailed(BROKE) from error

    def stop(self) -> None:
        """Ends it; nothing happens when it has ended."""
        self.task.cancel()

    def stop_from_any_thread(self) -> None:
        """Like `stop`, for callers outside the event loop."""
        if not self.task.done() and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.stop)

    async def _conduct(self) -> None:
        self.run.system = await self._system_inputs()
        async with aclosing(self.run.stream()) as outputs:
            async for output in outputs:
                self._waiting.put_nowait(output)

    async def _system_inputs(self) -> dict[str, Any]:
        asked = self.asked
        return {
            **from_caller(asked.parameters),
            **from_server(
                asked.granted.component.name,
                at=self.started_at,
                uid=asked.granted.caller.principal,
                trace_id=asked.ids.trace_id,
            ),
            **(await self._costly_inputs()),
        }

    async def _costly_inputs(self) -> dict[str, Any]:
        """The lender's model, and the files of the call for a component that reads them.

        Raises:
            InvalidCall: A file cannot be had, or there is no model for a component that needs one.
        """
        uses = self.asked.granted.component.uses
        inputs: dict[str, Any] = {}
        granted = self.asked.granted
        told = named(granted.caller.user, settings.USER_UPSTREAM)
        door = _door(granted.lender, is_needed=MODEL in uses, told_user=told)
        if door is not None:
            inputs[MODEL] = door
        if DOCUMENTS in uses:
            fetch = Egress(settings.FETCH_ALLOW).fetch
            inputs[DOCUMENTS] = await read_files(self.asked.parameters, fetch=fetch)
        return inputs

    def _ended(self, task: "asyncio.Task[None]") -> None:
        CALLS.discard(self)
        self._waiting.put_nowait(None)
        if self._logging is not Logging.NOTHING:
            lender = self.asked.granted.lender
            rules = lender.redaction if lender else server_rules()
            keep(self._row(task), rules, owner=self._owner)

    @property
    def _logging(self) -> Logging:
        lender = self.asked.granted.lender
        return lender.logging if lender else Logging.EVERYTHING

    def _row(self, task: "asyncio.Task[None]") -> ComponentCall:
        asked, granted = self.asked, self.asked.granted
        status, error = _outcome(task)
        if status is CallStatus.REFUSED and self._logging is not Logging.EVERYTHING:
            error = REFUSED  # the component's own sentence quotes the arguments
        return ComponentCall(
            key_id=granted.caller.key_id,
            copilot_id=granted.lender.id if granted.lender else None,
            component=granted.component.name,
            version=granted.component.version,
            action="run" if asked.as_program else "tool_eval",
            trace_id=asked.ids.trace_id,
            request_id=asked.request_id,
            arguments=self.run.arguments if self._logging is Logging.EVERYTHING else None,
            status=status,
            events=len(self.run.outputs),
            usage=[dict(usage) for usage in self.run.usage],
            ms=int(self.seconds * 1000),
            error=error,
            created_at=self.started_at,
        )


CALLS: set[Call] = set()


def open_call(asked: AdmittedCall) -> Call:
    """Starts a call.

    Raises:
        Unavailable: The server is draining.
        TooManyCalls: As many are running as this process, or the key, may have.
    """
    if is_draining():
        raise Unavailable(RESTARTING, code="draining")
    key_id = asked.granted.caller.key_id
    of_key = sum(call.asked.granted.caller.key_id == key_id for call in CALLS)
    if len(CALLS) >= MOST_CALLS or of_key >= MOST_CALLS_OF_A_KEY:
        whose = "this key" if of_key >= MOST_CALLS_OF_A_KEY else "this server"
        raise TooManyCalls(
            f"{whose.capitalize()} has as many calls running as are carried out at once. "
            "Call again when one has ended.",
            retry_after=1,
        )
    return Call(asked)


async def stop_all() -> None:
    """Ends every call, and waits until it has."""
    calls = tuple(CALLS)
    for call in calls:
        call.stop()
    if calls:
        await asyncio.wait([call.task for call in calls])


def _door(lender: LiveCopilot | None, *, is_needed: bool, told_user: str) -> ModelDoor | None:
    if lender is None:
        return None
    if lender.answerer is None:
        if is_needed:
            raise InvalidCall(f"There is no model to ask. {lender.problem}", code="not-ready")
        return None
    spec = lender.answerer.spec
    return ModelDoor(
        lender.answerer.provider,
        model=spec.model,
        timeouts=spec.provider.timeouts,
        parameters=spec.parameters,
        pace=Pace(),
        user=told_user,
    )


def _outcome(task: "asyncio.Task[None]") -> tuple[CallStatus, str]:
    if task.cancelled():
        return CallStatus.CANCELLED, ""
    match task.exception():
        case None:
            return CallStatus.DONE, ""
        case BadArguments(public=text) | InvalidCall(public=text):
            return CallStatus.REFUSED, text
        case CopilotError(public=text):
            return CallStatus.FAILED, text
        case _:
            return CallStatus.FAILED, BROKE
