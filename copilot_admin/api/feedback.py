"""`POST /v1/copilots/<slug>/feedback`: thumbs up or down from end users."""

from functools import partial

from django.http import HttpRequest
from ninja import Router
from pydantic import ValidationError

from copilot_admin.api.credentials import ids_of, read_as_caller
from copilot_admin.api.schemas import describe_body
from copilot_admin.copilots.live import admit
from copilot_admin.errors import NotFound, UnusableRequest
from copilot_admin.http.body_limit import parse_body
from copilot_admin.http.scope import get_client_network
from copilot_admin.limits.admission import admit_request
from copilot_admin.limits.rules import RequestIdentity
from copilot_admin.models import Logging
from copilot_admin.redaction.rules import Rules
from copilot_admin.storage.writer import WRITER, Deadline
from copilot_admin.transcripts.feedback import (
    JudgedAnswer,
    SubmittedFeedback,
    remove_personal_data,
    store_feedback,
)
from protocol.json import loads

router = Router(tags=["copilots"])
FEATURE = "feedback"


@router.post(
    "/copilots/{slug}/feedback", openapi_extra=describe_body(SubmittedFeedback, vote="thumbs_up")
)
async def feedback(request: HttpRequest, slug: str) -> dict[str, str]:
    """Store a vote with the answer that it is about."""
    deadline = Deadline()
    live, caller = await read_as_caller(
        request, lambda key, user: admit(slug, key=key, user=user), deadline
    )
    if live.answerer is not None and not live.answerer.spec.has(FEATURE):
        raise NotFound(f"The copilot '{slug}' doesn't accept feedback.")
    ids = ids_of(request)
    identity = RequestIdentity(
        copilot_id=live.id,
        key_id=caller.key_id,
        user=caller.user_id,
        address=get_client_network(request.META.get("REMOTE_ADDR", "")),
        is_trial=caller.is_trying,
        is_answered=False,
        is_recorded=live.logging is not Logging.NOTHING,
    )
    await admit_request(identity, id=str(ids.run_id), deadline=deadline)
    judged = JudgedAnswer(
        copilot_id=live.id,
        principal=caller.principal,
        user_id=caller.user.id if caller.user else None,
        logging=live.logging,
        trace_id=ids.trace_id if ids.given else "",
    )
    raw: bytes = request.body
    parse = partial(_parse, raw, live.redaction)
    given = await parse_body(parse, size=len(raw), is_slow=bool(live.redaction))
    async with deadline.limit():
        await WRITER.run(partial(store_feedback, given, judged=judged))
    return {"status": "ok"}


def _parse(body: bytes, rules: Rules) -> SubmittedFeedback:
    try:
        given = SubmittedFeedback.model_validate(loads(body))
    except ValidationError as error:
        raise UnusableRequest(
            'Send {"vote": "thumbs_up"} or {"vote": "thumbs_down"}, with what it is about.',
            code="no-vote",
        ) from error
    return remove_personal_data(given, rules) if rules else given
