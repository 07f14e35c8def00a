"""A call of a component over HTTP: a task that runs it, and the record of it.

The response only pumps what the task yields. A client that leaves stops the component at once, and
the record never depends on the client.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
import json
import logging
from typing import Any

from django.conf import settings

from copilot_admin.agent.components.inputs import DOCUMENTS, MODEL, ModelClient, from_server
from copilot_admin.agent.components.runs import ComponentRun, arguments_in
from copilot_admin.agent.fetching.egress import Egress
from copilot_admin.component_calls.access import Grant
from copilot_admin.component_calls.files import read_files
from copilot_admin.config.logs import ThrottledWarnings
from copilot_admin.copilots.end_users import AskingUser, named
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
from copilot_admin.redaction.redactor import redact_values
from copilot_admin.redaction.rules import NO_RULES, Rules, server_rules
from copilot_admin.runs.open_run import DRAINING
from copilot_admin.runs.tasks import spawn
from copilot_admin.storage.writer import WRITER
from copilot_admin.transcripts.end_users import save_end_user
from protocol.components import ComponentOutput, from_caller
from protocol.json import JsonObject
from protocol.redaction import redact, redact_text

logger = logging.getLogger(__name__)
UNRECORDED = ThrottledWarnings(logger)

MAX_CALLS = 128  # of this process at once
MAX_CALLS_OF_A_KEY = 64
MAX_ARGUMENTS = 50_000  # characters as JSON; of longer ones the beginning is stored
BEGINNING = 2_000
RESTARTING = "The server is restarting. Call again in a few seconds."
REFUSED = "The arguments were refused."
BROKE = "Something went wrong on the server. It has been recorded."
CALLS: set["Call"] = set()


@dataclass(kw_only=True, eq=False)
class Call:
    """A call in progress; belongs to the event loop that opened it."""

    granted: Grant
    parameters: JsonObject  # arguments and system inputs as the caller sent them
    as_program: bool  # call `run` instead of `tool_eval`
    streamed: bool
    ids: Ids
    request_id: str

    def __post_init__(self) -> None:
        self.started_at = datetime.now(UTC)
        component = self.granted.component
        question = str(self.parameters.get("_sys_origin_query") or "")
        self.run = ComponentRun(
            component,
            arguments_in(component, self.parameters, question=question),
            config=self.granted.config,
            as_program=self.as_program,
            streamed=self.streamed,
        )
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._outputs: asyncio.Queue[ComponentOutput | None] = asyncio.Queue()
        CALLS.add(self)
        self.task = spawn(self._run(), name=f"call of {component.name}")
        self.task.add_done_callback(self._end)

    @property
    def seconds(self) -> float:
        return self._loop.time() - self._started

    async def outputs(self) -> AsyncGenerator[ComponentOutput, None]:
        """Yield the outputs, or raise a `CopilotError`; closing this generator stops the call."""
        try:
            while (output := await self._outputs.get()) is not None:
                yield output
        finally:
            self.task.cancel()
        if self.task.cancelled():
            raise Unavailable(RESTARTING, code="draining")
        if error := self.task.exception():
            raise error if isinstance(error, CopilotError) else ComponentFailed(BROKE) from error

    def stop_from_any_thread(self) -> None:
        if not self.task.done() and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.task.cancel)

    async def _run(self) -> None:
        self.run.system = await self._system_inputs()
        async with aclosing(self.run.stream()) as outputs:
            async for output in outputs:
                self._outputs.put_nowait(output)

    async def _system_inputs(self) -> dict[str, Any]:
        granted = self.granted
        caller, component, copilot = granted.caller, granted.component, granted.copilot
        inputs = from_caller(self.parameters) | from_server(
            component.name, at=self.started_at, uid=caller.principal, trace_id=self.ids.trace_id
        )
        if copilot and copilot.answerer:
            spec = copilot.answerer.spec
            inputs[MODEL] = ModelClient(
                provider=copilot.answerer.provider,
                model=spec.model,
                timeouts=spec.provider.timeouts,
                parameters=spec.parameters,
                user=named(caller.user, settings.USER_UPSTREAM),
            )
        elif copilot and MODEL in component.uses:
            raise InvalidCall(f"There is no model to ask. {copilot.problem}", code="not-ready")
        if DOCUMENTS in component.uses:
            fetch = Egress(settings.FETCH_ALLOW).fetch
            inputs[DOCUMENTS] = await read_files(self.parameters, fetch=fetch)
        return inputs

    def _end(self, task: "asyncio.Task[None]") -> None:
        CALLS.discard(self)
        self._outputs.put_nowait(None)
        caller, copilot = self.granted.caller, self.granted.copilot
        level = copilot.logging if copilot else Logging.EVERYTHING
        if level is Logging.NOTHING:
            return
        with_arguments = level is Logging.EVERYTHING
        status, error = _outcome(task)
        if status is CallStatus.REFUSED and not with_arguments:
            error = REFUSED  # the component's own sentence quotes the arguments
        row = ComponentCall(
            key_id=caller.key_id,
            copilot_id=copilot.id if copilot else None,
            component=self.granted.component.name,
            version=self.granted.component.version,
            action="run" if self.as_program else "tool_eval",
            trace_id=self.ids.trace_id,
            request_id=self.request_id,
            arguments=self.run.arguments if with_arguments else None,
            status=status,
            events=len(self.run.outputs),
            usage=[dict(usage) for usage in self.run.usage],
            ms=int(self.seconds * 1000),
            error=error,
            created_at=self.started_at,
        )
        record_call(row, copilot.redaction if copilot else server_rules(), user=caller.user)


def check_capacity(key_id: int | None) -> None:
    """Raise `Unavailable` or `TooManyCalls` if another call may not start."""
    if DRAINING.is_set():
        raise Unavailable(RESTARTING, code="draining")
    of_key = sum(call.granted.caller.key_id == key_id for call in CALLS)
    if len(CALLS) >= MAX_CALLS or of_key >= MAX_CALLS_OF_A_KEY:
        owner = "This key" if of_key >= MAX_CALLS_OF_A_KEY else "This server"
        raise TooManyCalls(
            f"{owner} has as many calls running as are carried out at once. "
            "Call again when one has ended.",
            retry_after=1,
        )


async def stop_all() -> None:
    """Cancel every call and wait for their ends."""
    tasks = [call.task for call in CALLS]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


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


def record_call(
    call: ComponentCall, rules: Rules = NO_RULES, *, user: AskingUser | None = None
) -> None:
    """Store an unsaved call in the background; a failure is logged and reaches no caller."""

    def prepare() -> None:
        error, arguments = redact_values([str(call.error), call.arguments], rules)
        call.error, call.arguments = redact_text(str(error)), redact(arguments)
        if arguments is not None:
            text = json.dumps(call.arguments, ensure_ascii=False)
            if len(text) > MAX_ARGUMENTS:
                call.arguments = f"{text[:BEGINNING]} …"
        try:
            WRITER.submit(store).add_done_callback(lambda done: warn(done.exception()))
        except Unavailable as error:
            warn(error)

    def store() -> None:
        row = copy(call)  # the writer may retry
        row.user_id = save_end_user(user, at=call.created_at) if user is not None else None
        row.save(force_insert=True)

    def warn(error: BaseException | None) -> None:
        if error is None:
            return
        # Only its class: the text of a database error may have its address or a password.
        reason = error.public if isinstance(error, CopilotError) else type(error).__name__
        message = "a call of %s was not recorded: %s"
        UNRECORDED.warn(type(error).__name__, message, call.component, reason)

    asyncio.get_running_loop().run_in_executor(None, prepare)
