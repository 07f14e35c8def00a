"""`POST /v1/copilots/<slug>/query`: asks a copilot and streams its answer."""

import asyncio
from functools import partial

from django.conf import settings
from django.http import HttpRequest
from ninja import Router

from copilot_admin.answering.open_run import frames, open_run
from copilot_admin.answering.run import AdmittedQuery, Stop
from copilot_admin.api.documentation import QUERY_DOCUMENTATION
from copilot_admin.copilots.callers import key_in
from copilot_admin.copilots.live import admit
from copilot_admin.edge.event_streams import EventStreamResponse
from copilot_admin.edge.ids import SCOPE_KEY
from copilot_admin.errors import MalformedBody, UnusableRequest
from copilot_admin.ids import Ids, new_ids
from copilot_admin.storage.database_thread import Patience
from copilot_admin.storage.writer import READER
from protocol.generations import Generation
from protocol.query import Query
from protocol.requests import UnusableQuery, read
from protocol.strict_json import MalformedJson

router = Router(tags=["copilots"])
# Reading 256 kB of JSON takes about 2 ms; longer bodies are read beside the event loop.
READ_INLINE_BYTES = 256 * 1024


@router.post("/copilots/{slug}/query", openapi_extra=QUERY_DOCUMENTATION)
async def query(request: HttpRequest, slug: str) -> EventStreamResponse:
    """Asks a copilot; answers with server-sent events in the caller's protocol generation."""
    patience = Patience()
    live, caller = await READER.run(partial(admit, slug, key=key_in(request.headers)), patience)
    question = AdmittedQuery(
        live=live,
        caller=caller,
        query=await _read_query(request),
        ids=ids_of(request),
        size=len(request.body),
        user_email=_user_email(request),
    )
    run = await open_run(question, patience)
    return EventStreamResponse(
        frames(run), on_close=partial(run.stop_from_any_thread, Stop.CLIENT_GONE)
    )


async def _read_query(request: HttpRequest) -> Query:
    hint = Generation.TWO if request.GET.get("generation") == "2" else None
    reading = partial(read, hint=hint, max_messages=settings.MAX_MESSAGES)
    body = request.body
    try:
        if len(body) <= READ_INLINE_BYTES:
            return reading(body)
        return await asyncio.to_thread(reading, body)
    except MalformedJson as error:
        raise MalformedBody(error.public, code=error.code) from error
    except UnusableQuery as error:
        raise UnusableRequest(error.public, code=error.code) from error


def ids_of(request: HttpRequest) -> Ids:
    """The ids that the edge gave the request; Django's test client comes without an edge."""
    ids = getattr(request, "scope", {}).get(SCOPE_KEY)
    if isinstance(ids, Ids):
        return ids
    return new_ids(request.headers.get("X-Trace-Id", "").encode())


def _user_email(request: HttpRequest) -> str | None:
    name = settings.USER_EMAIL_HEADER
    return request.headers.get(name) if name else None
