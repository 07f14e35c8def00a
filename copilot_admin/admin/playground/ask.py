"""Ask a draft or a version; the answer streams as it does to Workspace, with debug events."""

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AbstractUser
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from copilot_admin.accounts.members import is_reachable
from copilot_admin.admin.playground.targets import (
    CHANGE,
    ORIGIN,
    QUERY,
    build_target,
    read_file,
    read_id,
)
from copilot_admin.agent.values.model_call import ModelCall, ModelMessage
from copilot_admin.errors import (
    Forbidden,
    MalformedBody,
    NotFound,
    RequestError,
    Unauthorized,
    UnusableRequest,
)
from copilot_admin.evaluation.targets import CallObserver, make_caller
from copilot_admin.http.errors import build_error_response
from copilot_admin.http.streams import EventStreamResponse
from copilot_admin.ids import new_ids
from copilot_admin.runs.open_run import frames, open_run
from copilot_admin.runs.query_context import AdmittedQuery
from copilot_admin.runs.tasks import CancelReason
from protocol.json import JsonObject, MalformedJson
from protocol.models import Query
from protocol.parsing import UnusableQuery, parse_query
from protocol.sse import encode

MODEL_CALL_EVENT = "playgroundModelCall"


@require_POST
async def ask(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Ask the draft as the form has it, or a version, and stream the answer."""
    calls: deque[ModelCall] = deque()
    try:
        user = await _load_builder(request)
        body = await sync_to_async(read_file)(request, QUERY)
        admit = partial(_admit_query, request, pk, body, user=user, observe=calls.append)
        run = await open_run(await sync_to_async(admit)())
    except RequestError as error:
        return build_error_response(request, error)
    return EventStreamResponse(
        _add_model_calls(frames(run), calls),
        on_close=partial(run.cancel_from_any_thread, CancelReason.CLIENT_LEFT),
    )


async def _load_builder(request: HttpRequest) -> AbstractUser:
    user = await request.auser()
    if not (isinstance(user, AbstractUser) and user.is_active and user.is_staff):
        raise Unauthorized(_("You are signed out. Sign in in another tab, then ask again."))
    if not await user.ahas_perm(CHANGE):
        raise Forbidden(_("You do not have permission to change copilots."))
    return user


def _admit_query(
    request: HttpRequest, pk: int, body: bytes, *, user: AbstractBaseUser, observe: CallObserver
) -> AdmittedQuery:
    if not is_reachable(user, pk):
        raise NotFound(_("This copilot was deleted."))
    caller = make_caller(user)
    return AdmittedQuery(
        live=build_target(pk, request.POST, observe=observe),
        caller=caller,
        user=caller.user,
        query=_parse_query(body),
        ids=new_ids(request.headers.get("X-Trace-Id", "").encode()),
        size=len(body),
        origin=read_id(request.POST, ORIGIN),
    )


def _parse_query(body: bytes) -> Query:
    try:
        return parse_query(body, max_messages=settings.MAX_MESSAGES)
    except MalformedJson as error:
        raise MalformedBody(error.public, code=error.code) from error
    except UnusableQuery as error:
        raise UnusableRequest(error.public, code=error.code) from error


async def _add_model_calls(
    stream: AsyncGenerator[bytes, None], calls: deque[ModelCall]
) -> AsyncGenerator[bytes, None]:
    async with aclosing(stream) as pieces:
        async for piece in pieces:
            while calls:
                yield _encode_call(calls.popleft())
            yield piece
    while calls:
        yield _encode_call(calls.popleft())


def _encode_call(call: ModelCall) -> bytes:
    return encode(
        MODEL_CALL_EVENT,
        {
            "model": call.model,
            "messages": [_message_json(message) for message in call.messages],
            "tools": [
                {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
                for tool in call.tools
            ],
            "parameters": dict(call.parameters),
        },
    )


def _message_json(message: ModelMessage) -> JsonObject:
    calls = [
        {"id": call.id, "name": call.name, "arguments": call.arguments}
        for call in message.tool_calls
    ]
    return {
        "role": message.role.value,
        "text": message.text,
        **({"tool_call_id": message.tool_call_id} if message.tool_call_id else {}),
        **({"tool_calls": calls} if calls else {}),
        **({"images": [image.name for image in message.images]} if message.images else {}),
    }
