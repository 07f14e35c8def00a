"""One call of a component over HTTP: from the request to the answer, streamed or whole."""

from contextlib import aclosing
from functools import partial
from typing import Any
from uuid import uuid4

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from copilot_admin.api.component_answers import Envelope, Status, answers, code_of, frames
from copilot_admin.api.component_bodies import for_run, read_body
from copilot_admin.api.credentials import key_and_user
from copilot_admin.api.query import ids_of
from copilot_admin.component_calls.access import Grant, find, grant, identify_with_key
from copilot_admin.component_calls.call import Call, CallRequest, open_call
from copilot_admin.copilots.callers import Caller
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.errors import CallFailed, ComponentError, InvalidCall
from copilot_admin.http.auth_throttle import look_up_key
from copilot_admin.http.errors import get_request_id
from copilot_admin.http.scope import get_client_network
from copilot_admin.http.streams import EventStreamResponse
from copilot_admin.limits.admission import admit_request
from copilot_admin.limits.rules import RequestIdentity
from copilot_admin.storage.writer import READER, Deadline
from protocol.sse import encode_json

TOOL_EVAL, RUN, MANIFEST = "tool_eval", "run", "manifest"
ACTIONS = (TOOL_EVAL, RUN, MANIFEST)


async def carry_out(
    request: HttpRequest, name: str, version: str, *, action: str
) -> HttpResponseBase:
    """Calls a component and answers with what it gives.

    Args:
        request: With the arguments in its body.
        name: Of the component.
        version: As it stands in the address; "latest" where none does.
        action: `tool_eval` or `run`.

    Raises:
        RequestError: It cannot be called like this, or gave nothing.
    """
    key, user = await key_and_user(request)
    deadline = Deadline()
    address = request.META.get("REMOTE_ADDR", "")
    entering = partial(_enter, key, user, name, version)
    caller = await READER.run(partial(look_up_key, entering, address), deadline)
    if action not in ACTIONS:
        raise InvalidCall(
            f"The action '{action}' is unknown. Use one of: {', '.join(ACTIONS)}.",
            code="unknown-action",
        )
    body = await read_body(request.body)
    granted = await READER.run(
        partial(grant, name, version, key=key, caller=caller, copilot=body.copilot), deadline
    )
    if action == RUN:
        body = for_run(body, parameters=granted.component.parameters().get("properties") or ())  # type: ignore[arg-type]  # a schema's
    ids = ids_of(request)
    identity = _get_identity(address, caller, granted)
    await admit_request(identity, id=str(ids.run_id), deadline=deadline)
    asked = CallRequest(
        granted=granted,
        parameters=body.parameters,
        as_program=action == RUN,
        streamed=body.stream,
        ids=ids,
        request_id=get_request_id(request) or "",
    )
    try:
        return await (_streamed if body.stream else _whole)(open_call(asked))
    except ComponentError as error:
        refused = code_of(error) == InvalidCall.code
        raise (InvalidCall if refused else CallFailed)(error.public) from error


def _get_identity(address: str, caller: Caller, granted: Grant) -> RequestIdentity:
    return RequestIdentity(
        copilot_id=granted.copilot.id if granted.copilot else None,
        key_id=caller.key_id,
        user=caller.user_id,
        address=get_client_network(address),
        is_answered=False,
    )


async def _streamed(call: Call) -> EventStreamResponse:
    envelope = _envelope(call)
    objects = answers(call, envelope)
    first = await anext(objects)
    return EventStreamResponse(
        frames(first, objects, envelope=envelope), on_close=call.stop_from_any_thread
    )


async def _whole(call: Call) -> HttpResponse:
    async with aclosing(call.outputs()) as outputs:
        async for _ in outputs:
            pass
    answer = _envelope(call).answer(
        call.run.merged, status=Status.DONE, seconds=call.seconds, is_last=True
    )
    return document(answer)


def _envelope(call: Call) -> Envelope:
    asked = call.request
    end_user = asked.parameters.get("_sys_end_user_id")
    return Envelope(
        component=asked.granted.component.name,
        request_id=asked.request_id,
        conversation_id=str(asked.parameters.get("_sys_conversation_id") or uuid4()),
        message_id=asked.ids.run_id,
        trace_id=asked.ids.trace_id,
        user_id=asked.granted.caller.principal,
        end_user_id=None if end_user is None else str(end_user),
        begun_at=call.started_at,
    )


def _enter(key: str | None, user: AskingUser | None, name: str, version: str) -> Caller:
    caller = identify_with_key(key, user)
    find(name, version)
    return caller


def document(value: Any) -> HttpResponse:
    """A JSON document that nobody keeps."""
    response = HttpResponse(encode_json(value), content_type="application/json")
    response["Cache-Control"] = "no-store"
    return response
