"""`POST /v1/copilots/<slug>/query`: asks a copilot and streams its answer.

Django comes to this view with what `questions` leaves to it, and in its test client.
"""

import asyncio
from dataclasses import dataclass, field
from functools import partial
from time import monotonic_ns
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from ninja import Router

from copilot_admin.agent.processes.places import Busy, Places
from copilot_admin.api.credentials import credentials_of
from copilot_admin.api.documentation import QUERY_DOCUMENTATION
from copilot_admin.copilots.door import Credentials, user_of
from copilot_admin.copilots.live import admit
from copilot_admin.copilots.user_words import named
from copilot_admin.errors import (
    BodyTooLarge,
    MalformedBody,
    RequestError,
    Unavailable,
    UnusableRequest,
)
from copilot_admin.http.django_handler import forget_body
from copilot_admin.http.event_streams import EventStreamResponse
from copilot_admin.http.ids import SCOPE_KEY
from copilot_admin.http.networks import network_of
from copilot_admin.http.slowed_guesses import looked_up
from copilot_admin.ids import Ids, new_ids
from copilot_admin.runs.admitted_query import AdmittedQuery
from copilot_admin.runs.full_collections import FULL_COLLECTIONS
from copilot_admin.runs.open_run import frames, open_run
from copilot_admin.runs.question_room import (
    MOST_MEMORY,
    TOO_MANY,
    TOO_WIDE,
    QuestionShare,
    Weight,
    room_to_read,
    size_of,
    text_of,
    weight_of,
)
from copilot_admin.runs.run import ActiveRun
from copilot_admin.runs.stops import Stop
from copilot_admin.runs.unwritten_room import room_to_be_written
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.storage.writer import READER, Deadline
from copilot_admin.telemetry.refusals import tell_refusal
from protocol.generations import Generation
from protocol.query import Query
from protocol.requests import UnusableQuery, read
from protocol.strict_json import MalformedJson

router = Router(tags=["copilots"])
# Reading 256 kB of JSON takes about 2 ms; longer bodies are read beside the event loop.
READ_INLINE_BYTES = 256 * 1024
# Large ones are read and prepared for the journal two at a time: more threads take no less time
# together, and hold up the event loop. Nobody's dashboard is refused because others ask in the same
# second: it takes some 20 ms each.
LARGE_ONES = Places(2, waiting=1000, seconds=settings.DATABASE_WAIT_SECONDS)
# What its texts may take from then on: the journal and the model's server get copies of them.
MOST_TEXT = 1.6 * settings.MAX_BODY_BYTES
FAILURE_KEY = "copilot_admin.failure"  # in the scope: why a question has no answer


@dataclass(slots=True, kw_only=True)
class UnreadQuery:
    """A question as it came, before anything is known of it.

    Attributes:
        address: The network that it came from.
        credentials: What it brings of who asks, unchecked.
        body: Gone when it was read: 20 MB would be there as long as the question is prepared.
        hint: The generation that its address names.
        came: When it was there with its body (`monotonic_ns`).
    """

    slug: str
    credentials: Credentials
    body: bytes
    ids: Ids
    address: str = ""
    hint: Generation | None = None
    came: int = field(default_factory=monotonic_ns)


@router.post("/copilots/{slug}/query", openapi_extra=QUERY_DOCUMENTATION)
async def query(request: HttpRequest, slug: str) -> EventStreamResponse:
    """Asks a copilot; answers with server-sent events in the caller's protocol generation."""
    failure = getattr(request, "scope", {}).pop(FAILURE_KEY, None)
    if failure is not None:
        try:
            raise failure
        finally:
            del failure  # else its error would know this frame, which knows the error
    asked = UnreadQuery(
        slug=slug,
        credentials=credentials_of(request),
        body=request.body,
        ids=ids_of(request),
        address=network_of(request.META.get("REMOTE_ADDR", "")),
        hint=Generation.TWO if request.GET.get("generation") == "2" else None,
    )
    forget_body(request)
    run = await opened(asked)
    return EventStreamResponse(
        frames(run), on_close=partial(run.stop_from_any_thread, Stop.CLIENT_GONE)
    )


async def opened(asked: UnreadQuery) -> ActiveRun:
    """Lets a question in and starts to answer it.

    Raises:
        RequestError: It is not let in.
    """
    is_short = len(asked.body) <= READ_INLINE_BYTES
    weighing = partial(weight_of, asked.body)
    weight = weighing() if is_short else await asyncio.to_thread(weighing)
    del weighing
    if weight.reading > MOST_MEMORY:
        raise _refused(asked, BodyTooLarge(TOO_WIDE))
    if not weight.is_large:
        return await _opened_small(asked, weight, is_short=is_short)
    try:
        async with room_to_read(weight) as share, LARGE_ONES.one():
            try:
                return await _opened_undisturbed(asked, share, Deadline())
            finally:
                share.shrink(weight.staying)
    except Busy:
        raise _refused(asked, Unavailable(TOO_MANY, code="busy")) from None


async def _opened_small(asked: UnreadQuery, weight: Weight, *, is_short: bool) -> ActiveRun:
    """Opens the run of a question that waits for none of the large ones."""
    deadline = Deadline()
    opening = _opened if is_short else _opened_undisturbed
    try:
        async with room_to_be_written(asked.body, weight, deadline) as share:
            return await opening(asked, share, deadline)
    except Busy:
        raise _refused(asked, DatabaseUnavailable()) from None


def _refused(asked: UnreadQuery, error: RequestError) -> RequestError:
    """An error, of which those who watch the server have been told."""
    tell_refusal(error, ids=asked.ids, came=asked.came)
    return error


async def _opened_undisturbed(
    asked: UnreadQuery, share: QuestionShare | None, deadline: Deadline
) -> ActiveRun:
    """Opens the run of a question of very many objects, of which no collection looks at each."""
    with FULL_COLLECTIONS.held():
        run = await _opened(asked, share, deadline)
        FULL_COLLECTIONS.hold_until_gone(run)
        return run


async def _opened(asked: UnreadQuery, share: QuestionShare | None, deadline: Deadline) -> ActiveRun:
    length, size = len(asked.body), size_of(asked.body)
    known: dict[str, Any] = {}  # of the question, so far
    try:
        user = await user_of(asked.credentials)
        key = asked.credentials.key
        admitted = partial(admit, asked.slug, key=key, user=user)
        live, caller = await READER.run(partial(looked_up, admitted, key, asked.address), deadline)
        known = {
            "copilot": live.slug,
            "version": live.version_number,
            "caller": caller.principal,
            "user": named(caller.user, settings.USER_IN_LOGS),
            "is_trial": caller.is_trying,
        }
        query = await _read_query(asked, size)
        if 4 * length > MOST_TEXT and await asyncio.to_thread(text_of, query) > MOST_TEXT:
            raise BodyTooLarge(TOO_WIDE)
    except RequestError as error:
        tell_refusal(error, ids=asked.ids, came=asked.came, **known)
        raise
    question = AdmittedQuery(
        live=live,
        caller=caller,
        query=query,
        ids=asked.ids,
        size=size,
        address=asked.address,
        came=asked.came,
        user=caller.user,
    )
    if share is not None:
        # Not for the run alone: who was refused because the journal took too long waits in it all the same.
        share.keep_for(question)
    return await open_run(question, deadline)


async def _read_query(asked: UnreadQuery, size: int) -> Query:
    reading = partial(read, asked.body, hint=asked.hint, max_messages=settings.MAX_MESSAGES)
    is_short = size <= READ_INLINE_BYTES
    asked.body = b""
    try:
        return reading() if is_short else await asyncio.to_thread(reading)
    except MalformedJson as error:
        raise MalformedBody(error.public, code=error.code) from error
    except UnusableQuery as error:
        raise UnusableRequest(error.public, code=error.code) from error


def ids_of(request: HttpRequest) -> Ids:
    """The ids that the edge gave the request; Django's test client comes without an edge."""
    ids = getattr(request, "scope", {}).get(SCOPE_KEY)
    if isinstance(ids, Ids):
        return ids
    given = (request.headers.get(name, "").encode() for name in ("X-Trace-Id", "traceparent"))
    return new_ids(*given)
