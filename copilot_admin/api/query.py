"""`POST /v1/copilots/<slug>/query`: queries a copilot and streams its answer.

The ASGI middleware `Questions` answers in the task of the connection: Django's request object, two
more tasks and a visit to a thread cost as much as a short answer. Requests that Django would reject
are passed on to it, and so are errors before the first byte. Django's view gets these, and the
requests of its test client.
"""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from time import monotonic_ns
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host
from ninja import Router

from copilot_admin.api.credentials import credentials_of, ids_of
from copilot_admin.api.schemas import EVENT_STREAM, Problem, QueryBody, describe_body
from copilot_admin.copilots.end_users import (
    Credentials,
    credentials_in,
    headers_read,
    named,
    user_of,
)
from copilot_admin.copilots.live import admit
from copilot_admin.errors import RequestError, UnusableRequest, strip_traceback
from copilot_admin.http.auth_throttle import look_up_key
from copilot_admin.http.body_limit import parse_body
from copilot_admin.http.proxy_identity import get_end_user
from copilot_admin.http.scope import (
    IDS_KEY,
    App,
    Receive,
    Scope,
    Send,
    get_client_address,
    get_client_network,
    get_joined_header,
    replay,
)
from copilot_admin.http.streams import STREAM_HEADERS, EventStreamResponse
from copilot_admin.ids import Ids
from copilot_admin.runs.open_run import frames, open_run
from copilot_admin.runs.query_context import AdmittedQuery
from copilot_admin.runs.run import ActiveRun
from copilot_admin.runs.tasks import CancelReason
from copilot_admin.storage.writer import READER, Deadline
from copilot_admin.telemetry.finished_runs import report_rejected_run
from protocol.models import Generation
from protocol.parsing import UnusableQuery, parse_query

router = Router(tags=["copilots"])
FAILURE_KEY = "copilot_admin.failure"  # in the scope: the error that Django has to render


@dataclass(slots=True, kw_only=True)
class UnreadQuery:
    """A query before its caller is known."""

    slug: str
    credentials: Credentials  # unchecked
    body: bytes  # empty once it is parsed, so that 20 MB aren't kept while the run is prepared
    ids: Ids
    address: str  # network of the client
    hint: Generation | None = None  # protocol generation according to the URL
    received_at: int = field(default_factory=monotonic_ns)  # when the body was complete


_DOCUMENTATION = {
    **describe_body(QueryBody, messages=[{"role": "human", "content": "What moved today?"}]),
    "responses": {200: {"description": "The answer", "content": EVENT_STREAM}},
}


@router.post(
    "/copilots/{slug}/query",
    response={(400, 401, 403, 404, 413, 415, 422, 429, 503): Problem},
    openapi_extra=_DOCUMENTATION,
)
async def query(request: HttpRequest, slug: str) -> EventStreamResponse:
    """Query a copilot; answers with server-sent events in the caller's protocol generation."""
    failure = getattr(request, "scope", {}).pop(FAILURE_KEY, None)
    if failure is not None:
        try:
            raise failure
        finally:
            del failure  # breaks a reference cycle of the error and this frame
    asked = UnreadQuery(
        slug=slug,
        credentials=credentials_of(request),
        body=request.body,
        ids=ids_of(request),
        address=get_client_network(request.META.get("REMOTE_ADDR", "")),
        hint=Generation.TWO if request.GET.get("generation") == "2" else None,
    )
    run = await opened(asked)
    return EventStreamResponse(
        frames(run), on_close=partial(run.cancel_from_any_thread, CancelReason.CLIENT_LEFT)
    )


async def opened(asked: UnreadQuery) -> ActiveRun:
    """Admit a query and start its run, or raise a `RequestError`."""
    size, deadline = len(asked.body), Deadline()
    known: dict[str, Any] = {}  # for the report of a rejection
    try:
        user = await user_of(asked.credentials)
        admitted = partial(admit, asked.slug, key=asked.credentials.key, user=user)
        live, caller = await READER.run(partial(look_up_key, admitted, asked.address), deadline)
        known = {
            "copilot": live.slug,
            "version": live.version_number,
            "caller": caller.principal,
            "user": named(caller.user, settings.USER_IN_LOGS),
            "is_trial": caller.is_trying,
        }
        reading = partial(
            parse_query, asked.body, hint=asked.hint, max_messages=settings.MAX_MESSAGES
        )
        asked.body = b""
        try:
            query = await parse_body(reading, size=size)
        except UnusableQuery as error:
            raise UnusableRequest(error.public, code=error.code) from error
    except RequestError as error:
        report_rejected_run(error, ids=asked.ids, received=asked.received_at, **known)
        raise
    question = AdmittedQuery(
        live=live,
        caller=caller,
        query=query,
        ids=asked.ids,
        size=size,
        address=asked.address,
        received_at=asked.received_at,
        user=caller.user,
    )
    del reading  # with the body
    return await open_run(question, deadline)


class Questions:
    """ASGI middleware; the body limit outside it delivers a body as one message."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        slug = _slug_in(scope)
        if slug is None:
            await self.app(scope, receive, send)
            return
        message = await receive()
        given = ((key, get_joined_header(scope, key)) for key in headers_read())
        headers = {key: value for key, value in given if value is not None}
        asked = UnreadQuery(
            slug=slug,
            credentials=credentials_in(headers, get_end_user(scope)),
            body=message.pop("body"),
            ids=scope[IDS_KEY],
            address=get_client_network(get_client_address(scope)),
        )
        failure: Exception | None = None
        with _until_client_leaves(receive):
            failure = await _answer(asked, send)
        if failure is not None:
            scope = {**scope, FAILURE_KEY: failure}
            await self.app(scope, replay({**message, "body": b""}, receive), send)


async def _answer(asked: UnreadQuery, send: Send) -> Exception | None:
    """Stream an answer; return an error that came before its first byte."""
    try:
        run = await opened(asked)
    except RequestError as error:
        return strip_traceback(error)
    except Exception as error:  # noqa: BLE001  # a request's boundary (ADR 1): Django renders it
        return error
    try:
        await send({"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS})
        async with aclosing(run.buffer.chunks()) as pieces:
            more = True
            async for piece in pieces:
                # The end of the body is sent with the last frames: alone it costs as much as they.
                more = not run.buffer.is_finished
                await send({"type": "http.response.body", "body": piece, "more_body": more})
        if more:
            await send({"type": "http.response.body"})
    finally:
        run.cancel(CancelReason.CLIENT_LEFT)  # also before the first frame
    return None


@contextmanager
def _until_client_leaves(receive: Receive) -> Iterator[None]:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101  # a coroutine that runs has one
    is_gone = False

    def leave(_: object) -> None:
        nonlocal is_gone
        is_gone = True
        task.cancel()

    listening = asyncio.ensure_future(receive())
    listening.add_done_callback(leave)
    try:
        yield
    except asyncio.CancelledError:
        if not is_gone or task.uncancel():
            raise
    finally:
        listening.remove_done_callback(leave)
        listening.cancel()


def _slug_in(scope: Scope) -> str | None:
    """Return the slug of a query for a host of this server; None for Django's requests."""
    if scope["type"] != "http" or scope["method"] != "POST" or IDS_KEY not in scope:
        return None
    if scope.get("root_path") or scope.get("query_string"):
        return None
    match scope["path"].split("/"):
        case ["", "v1", "copilots", slug, "query"] if slug:
            domain, _ = split_domain_port(get_joined_header(scope, "host") or "")
            return slug if domain and validate_host(domain, settings.ALLOWED_HOSTS) else None
    return None
