"""Responses of the component API: one object, or the same object for every event of a stream.

Source: the HTTP interface of AppBuilder's component contract, as its SDK reads it.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from uuid import uuid4, uuid5

from copilot_admin.component_calls.call import Call
from copilot_admin.errors import (
    BadArguments,
    ComponentFailed,
    CopilotError,
    InvalidCall,
    RequestError,
)
from protocol.components import ComponentOutput, Content, ContentType, OutputRole, one_usage
from protocol.json import Json, JsonObject, clean_json, object_of, objects_of
from protocol.sse import encode_data

# The name that the SDK's models know; any other is an error to them.
_WIRE_TYPES = {ContentType.THOUGHT: "reasoning_content"}


class Status(StrEnum):
    RUNNING = "running"
    DONE = "done"
    ERROR = "error"


class Envelope:
    """Builds the objects of one response, each with the same facts about the call."""

    def __init__(self, call: Call) -> None:
        self._call = call
        parameters = call.parameters
        end_user = parameters.get("_sys_end_user_id")
        self._facts = {
            "request_id": call.request_id,
            "conversation_id": str(parameters.get("_sys_conversation_id") or uuid4()),
            "message_id": str(call.ids.run_id),
            "trace_id": call.ids.trace_id,
            "user_id": call.granted.caller.principal,
            **({} if end_user is None else {"end_user_id": str(end_user)}),
        }

    def build(
        self, output: ComponentOutput, status: Status, *, is_last: bool = True
    ) -> dict[str, Any]:
        """Return an output, or the end of them, as an object of the API; NaN becomes null."""
        try:
            shown = clean_json(output.model_dump(mode="json")["content"])
        except ValueError as error:
            raise ComponentFailed("The component returned a value that isn't JSON.") from error
        return {
            **self._facts,
            "is_completion": is_last,
            "status": status.value,
            "role": output.role.value,
            "content": [
                self._build_element(one, row, status)
                for one, row in zip(output.content, objects_of(shown), strict=True)
            ],
        }

    def _build_element(self, content: Content, shown: JsonObject, status: Status) -> JsonObject:
        component = self._call.granted.component.name
        kind = _WIRE_TYPES.get(content.type, content.type.value)
        same = f"{kind} {content.name} {content.visible_scope}"  # pieces of one text have one id
        begun, seconds = self._call.started_at, self._call.seconds
        measured: JsonObject = {
            "begin_time": begun.isoformat(),
            "duration": round(seconds, 3),
            "begin_timestamp": round(begun.timestamp(), 6),
            "end_timestamp": round(begun.timestamp() + seconds, 6),
        }
        return {
            **shown,
            "type": kind,
            "usage": _merge_usage(component, content, shown["usage"]),
            "metrics": {**measured, **object_of(shown["metrics"])},
            "event": {
                "id": str(uuid5(self._call.ids.run_id, same)),
                "status": status.value,
                "name": f"/component/{component}/node/{kind}",
                "created_time": datetime.now(UTC).isoformat(),
            },
        }


async def build_answers(call: Call) -> AsyncGenerator[dict[str, Any], None]:
    """Yield an object for each output of a call, then one that closes the stream or says why not.

    A failure before the first output is raised.
    """
    envelope, role, has_begun = Envelope(call), OutputRole.TOOL, False
    try:
        async with aclosing(call.outputs()) as outputs:
            async for output in outputs:
                role = output.role
                answer = envelope.build(output, Status.RUNNING, is_last=False)
                has_begun = True
                yield answer
    except CopilotError as error:
        if not has_begun:
            raise
        last = envelope.build(ComponentOutput(role=OutputRole.TOOL), Status.ERROR)
        yield {**last, "code": code_of(error), "message": error.public}
        return
    yield envelope.build(ComponentOutput(role=role), Status.DONE)


async def encode_answers(
    first: dict[str, Any], rest: AsyncGenerator[dict[str, Any], None]
) -> AsyncGenerator[bytes, None]:
    """Yield answers as events; `first` was awaited before, so that an early error has a status."""
    async with aclosing(rest):
        yield encode_data(first)
        async for answer in rest:
            yield encode_data(answer)


def code_of(error: CopilotError) -> str:
    if isinstance(error, RequestError):
        return error.code
    return InvalidCall.code if isinstance(error, BadArguments) else "component-failed"


def _merge_usage(component: str, content: Content, usage: Json) -> Json:
    if isinstance(usage, Mapping):
        return usage
    usages = objects_of(usage)
    if len(usages) < 2:
        return usages[0] if usages else {}
    models = [
        {"model_name" if key == "name" else key: value for key, value in one.items()}
        for one in usages
    ]
    node: JsonObject = {"node_id": component, "models_usage": models}
    return {**one_usage(ComponentOutput(content=(content,))), "nodes": [node]}
