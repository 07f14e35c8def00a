"""`POST /v1/copilots/<slug>/query`: queries a copilot and streams its answer.

The view gets what `questions` leaves to Django, and the requests of its test client.
"""

from dataclasses import dataclass, field
from functools import partial
from time import monotonic_ns
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from ninja import Router

from copilot_admin.api.credentials import credentials_of, ids_of
from copilot_admin.api.schemas import EVENT_STREAM, Problem, QueryBody, describe_body
from copilot_admin.copilots.credentials import Credentials, user_of
from copilot_admin.copilots.end_users import named
from copilot_admin.copilots.live import admit
from copilot_admin.errors import MalformedBody, RequestError, UnusableRequest
from copilot_admin.http.auth_throttle import look_up_key
from copilot_admin.http.body_limit import parse_body
from copilot_admin.http.scope import get_client_network
from copilot_admin.http.streams import EventStreamResponse
from copilot_admin.ids import Ids
from copilot_admin.runs.open_run import frames, open_run
from copilot_admin.runs.query_context import AdmittedQuery
from copilot_admin.runs.run import ActiveRun
from copilot_admin.runs.tasks import CancelReason
from copilot_admin.storage.writer import READER, Deadline
from copilot_admin.telemetry.finished_runs import report_rejected_run
from protocol.json import MalformedJson
from protocol.models import Generation, Query
from protocol.parsing import UnusableQuery, parse_query

router = Router(tags=["copilots"])
FAILURE_KEY = "copilot_admin.failure"  # in the scope: the error that Django has to render


@dataclass(slots=True, kw_only=True)
class UnreadQuery:
    """A query before its caller is known.

    Attributes:
        address: Network of the client.
        credentials: Unchecked.
        body: Empty once it is parsed, so that 20 MB aren't kept while the run is prepared.
        hint: Protocol generation according to the URL.
        received_at: When the body was complete (`monotonic_ns`).
    """

    slug: str
    credentials: Credentials
    body: bytes
    ids: Ids
    address: str = ""
    hint: Generation | None = None
    received_at: int = field(default_factory=monotonic_ns)


_EXAMPLE = {"role": "human", "content": "What moved today?"}
_DOCUMENTATION = {
    **describe_body(QueryBody, messages=[_EXAMPLE]),
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
    """Admit a query and start its run.

    Raises:
        RequestError: It is rejected.
    """
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
        query = await _read_query(asked, size)
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
    return await open_run(question, deadline)


async def _read_query(asked: UnreadQuery, size: int) -> Query:
    reading = partial(parse_query, asked.body, hint=asked.hint, max_messages=settings.MAX_MESSAGES)
    asked.body = b""
    try:
        return await parse_body(reading, size=size)
    except MalformedJson as error:
        raise MalformedBody(error.public, code=error.code) from error
    except UnusableQuery as error:
        raise UnusableRequest(error.public, code=error.code) from error
