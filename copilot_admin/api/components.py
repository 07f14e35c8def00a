"""`/v2/components`: lists components, and calls them over HTTP."""

from contextlib import aclosing
from functools import partial
from itertools import groupby
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from ninja import Router

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.registry import LATEST
from copilot_admin.api.component_answers import (
    Envelope,
    Status,
    build_answers,
    code_of,
    encode_answers,
)
from copilot_admin.api.component_bodies import CallBody, for_run, read_body
from copilot_admin.api.credentials import ids_of, read_as_caller
from copilot_admin.api.schemas import (
    EVENT_STREAM,
    SECURED,
    CatalogueEntry,
    ComponentAnswer,
    ComponentProblem,
    ComponentVersion,
    describe_body,
)
from copilot_admin.component_calls.access import catalogue, find, grant, identify_with_key
from copilot_admin.component_calls.call import Call, check_capacity
from copilot_admin.copilots.callers import Caller
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.errors import CallFailed, ComponentError, InvalidCall
from copilot_admin.http.body_limit import parse_body
from copilot_admin.http.errors import get_request_id
from copilot_admin.http.scope import get_client_network
from copilot_admin.http.streams import EventStreamResponse
from copilot_admin.limits.admission import admit_request
from copilot_admin.limits.rules import RequestIdentity
from copilot_admin.storage.writer import READER, Deadline
from protocol.json import object_of
from protocol.sse import encode_json

router = Router(tags=["components"])
TOOL_EVAL, RUN, MANIFEST = "tool_eval", "run", "manifest"
ACTIONS = (TOOL_EVAL, RUN, MANIFEST)
LIST, NEWEST = "/components", "/components/{component}"
ONE = "/components/{component}/version/{version}"
_CALL: dict[str, Any] = {
    "response": {
        200: ComponentAnswer,
        (400, 401, 403, 404, 405, 413, 415, 429, 500, 503): ComponentProblem,
    },
    "openapi_extra": {
        **SECURED,
        **describe_body(CallBody, stream=False, parameters={"expression": "2 + 2"}),
        "responses": {200: {"content": EVENT_STREAM}},
    },
}


@router.get(
    LIST, response={200: list[CatalogueEntry], (401, 405): ComponentProblem}, openapi_extra=SECURED
)
async def components(request: HttpRequest) -> HttpResponse:
    """The components that the key may call, each with its versions and its manifests."""
    found = await read_as_caller(request, lambda key, user: catalogue(identify_with_key(key, user)))
    versions = (list(rows) for _name, rows in groupby(found, key=lambda one: one.name))
    return _json_response(
        [{**_describe(rows[-1]), "versions": [one.version for one in rows]} for rows in versions]
    )


@router.get(
    ONE,
    response={200: ComponentVersion, (401, 403, 404, 405): ComponentProblem},
    openapi_extra=SECURED,
)
async def manifest(request: HttpRequest, component: str, version: str) -> HttpResponse:
    """Input schema of a component, as models get it."""

    def read(key: str | None, user: AskingUser | None) -> type[Component]:
        return grant(component, version, key=key, caller=identify_with_key(key, user)).component

    return _json_response(_describe(await read_as_caller(request, read)))


@router.post(NEWEST, **_CALL)
async def call_newest(
    request: HttpRequest, component: str, action: str = TOOL_EVAL
) -> HttpResponseBase:
    """Call the newest version of a component, or the one that the key's copilot has pinned."""
    return await call_version(request, component, LATEST, action)


@router.post(ONE, **_CALL)
async def call_version(
    request: HttpRequest, component: str, version: str, action: str = TOOL_EVAL
) -> HttpResponseBase:
    """Call one version of a component; `latest` is the newest.

    `?action=manifest` needs no body. With `stream`, each part of the result is an event.
    """
    if action == MANIFEST:
        return await manifest(request, component, version)

    def read_caller(key: str | None, user: AskingUser | None) -> tuple[str | None, Caller]:
        caller = identify_with_key(key, user)
        find(component, version)
        return key, caller

    deadline = Deadline()
    key, caller = await read_as_caller(request, read_caller, deadline)
    if action not in ACTIONS:
        raise InvalidCall(
            f"The action '{action}' is unknown. Use one of: {', '.join(ACTIONS)}.",
            code="unknown-action",
        )
    body = await parse_body(partial(read_body, request.body), size=len(request.body))
    granted = await READER.run(
        partial(grant, component, version, key=key, caller=caller, copilot=body.copilot), deadline
    )
    if action == RUN:
        body = for_run(body, object_of(granted.component.parameters().get("properties")))
    ids = ids_of(request)
    identity = RequestIdentity(
        copilot_id=granted.copilot.id if granted.copilot else None,
        key_id=caller.key_id,
        user=caller.user_id,
        address=get_client_network(request.META.get("REMOTE_ADDR", "")),
        is_answered=False,
    )
    await admit_request(identity, id=str(ids.run_id), deadline=deadline)
    check_capacity(caller.key_id)
    call = Call(
        granted=granted,
        parameters=body.parameters,
        as_program=action == RUN,
        streamed=body.stream,
        ids=ids,
        request_id=get_request_id(request) or "",
    )
    return await _answer(call)


async def _answer(call: Call) -> HttpResponseBase:
    try:
        if call.streamed:
            answers = build_answers(call)
            frames = encode_answers(await anext(answers), answers)
            return EventStreamResponse(frames, on_close=call.stop_from_any_thread)
        async with aclosing(call.outputs()) as outputs:
            async for _ in outputs:
                pass
        return _json_response(Envelope(call).build(call.run.merged, Status.DONE))
    except ComponentError as error:
        is_refused = code_of(error) == InvalidCall.code
        raise (InvalidCall if is_refused else CallFailed)(error.public) from error


def _describe(component: type[Component]) -> dict[str, Any]:
    return {
        "name": component.name,
        "version": component.version,
        "description": component.description(),
        "manifests": [dict(manifest) for manifest in component.manifests],
    }


def _json_response(value: Any) -> HttpResponse:
    response = HttpResponse(encode_json(value), content_type="application/json")
    response["Cache-Control"] = "no-store"
    return response
