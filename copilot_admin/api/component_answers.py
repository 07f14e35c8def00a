"""Responses of the component API: one object, or the same object for every event of a stream.

Source: the HTTP interface of AppBuilder's component contract, as its SDK reads it.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid5

from copilot_admin.component_calls.call import Call
from copilot_admin.errors import (
    BadArguments,
    ComponentFailed,
    CopilotError,
    InvalidCall,
    RequestError,
)
from protocol.components import ComponentOutput, Content, ContentType, OutputRole, one_usage
from protocol.json import clean_json
from protocol.sse import encode_data

# The name that the SDK's models know; any other is an error to them.
_WIRE_TYPES = {ContentType.THOUGHT: "reasoning_content"}


class Status(StrEnum):
    """Status of a call, or of an element of it."""

    RUNNING = "running"
    DONE = "done"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """Fields about the call in every object of one response.

    Attributes:
        conversation_id: The caller's, else a new one.
        end_user_id: The caller's, if it has said.
    """

    component: str
    request_id: str
    conversation_id: str
    message_id: UUID
    trace_id: str
    user_id: str
    end_user_id: str | None
    begun_at: datetime

    def answer(
        self, output: ComponentOutput, *, status: Status, seconds: float, is_last: bool
    ) -> dict[str, Any]:
        """An output, or the end of them, as an object of the API."""
        given = {} if self.end_user_id is None else {"end_user_id": self.end_user_id}
        return {
            "request_id": self.request_id,
            "conversation_id": self.conversation_id,
            "message_id": str(self.message_id),
            "trace_id": self.trace_id,
            "user_id": self.user_id,
            **given,
            "is_completion": is_last,
            "status": status.value,
            "role": output.role.value,
            "content": [
                self._element(one, shown, status=status, seconds=seconds)
                for one, shown in zip(output.content, _shown(output), strict=True)
            ],
        }

    def failure(self, error: CopilotError) -> dict[str, Any]:
        """The last object of a stream whose component broke down."""
        nothing = ComponentOutput(role=OutputRole.TOOL)
        return {
            **self.answer(nothing, status=Status.ERROR, seconds=0.0, is_last=True),
            "code": code_of(error),
            "message": error.public,
        }

    def _element(
        self, content: Content, shown: Mapping[str, Any], *, status: Status, seconds: float
    ) -> dict[str, Any]:
        kind = _WIRE_TYPES.get(content.type, content.type.value)
        same = f"{kind} {content.name} {content.visible_scope}"  # pieces of one text have one id
        measured = {
            "begin_time": self.begun_at.isoformat(),
            "duration": round(seconds, 3),
            "begin_timestamp": round(self.begun_at.timestamp(), 6),
            "end_timestamp": round(self.begun_at.timestamp() + seconds, 6),
        }
        return {
            **shown,
            "type": kind,
            "usage": self._usage(content, shown["usage"]),
            "metrics": {**measured, **shown["metrics"]},
            "event": {
                "id": str(uuid5(self.message_id, same)),
                "status": status.value,
                "name": f"/component/{self.component}/node/{kind}",
                "created_time": datetime.now(UTC).isoformat(),
            },
        }

    def _usage(self, content: Content, shown: Any) -> Any:
        if not isinstance(shown, list):
            return shown
        if len(shown) < 2:
            return shown[0] if shown else {}
        models = [
            {"model_name" if key == "name" else key: value for key, value in one.items()}
            for one in shown
        ]
        node = {"node_id": self.component, "models_usage": models}
        return {**one_usage(ComponentOutput(content=(content,))), "nodes": [node]}


async def answers(call: Call, envelope: Envelope) -> AsyncGenerator[dict[str, Any], None]:
    """The objects of a stream: one for each output of a call, then one that closes it.

    Raises:
        CopilotError: The component gave no whole result.
    """
    role = OutputRole.TOOL
    async with aclosing(call.outputs()) as outputs:
        async for output in outputs:
            role = output.role
            yield envelope.answer(
                output, status=Status.RUNNING, seconds=call.seconds, is_last=False
            )
    closing = ComponentOutput(role=role)
    yield envelope.answer(closing, status=Status.DONE, seconds=call.seconds, is_last=True)


async def frames(
    first: dict[str, Any], rest: AsyncGenerator[dict[str, Any], None], *, envelope: Envelope
) -> AsyncGenerator[bytes, None]:
    """The objects of a stream as events; a failure is the last of them.

    Args:
        first: Was waited for already, so that an early failure has a status of its own.
        rest: Closed with this generator.
        envelope: Of the answer.
    """
    async with aclosing(rest):
        try:
            yield encode_data(first)
            async for answer in rest:
                yield encode_data(answer)
        except CopilotError as error:
            yield encode_data(envelope.failure(error))


def code_of(error: CopilotError) -> str:
    """The code by which programs know an error."""
    match error:
        case RequestError(code=code):
            return code
        case BadArguments():
            return InvalidCall.code
        case _:
            return "component-failed"


def _shown(output: ComponentOutput) -> list[dict[str, Any]]:
    """The elements as JSON, which has no NaN and no infinities: those become null.

    Raises:
        ComponentFailed: Raw data, usage or metrics hold what JSON cannot say.
    """
    try:
        content = output.model_dump(mode="json")["content"]
    except ValueError as error:
        raise ComponentFailed("The component gave what is no JSON.") from error
    shown: list[dict[str, Any]] = clean_json(content)  # type: ignore[assignment]
    return shown
