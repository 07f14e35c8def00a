"""Keeps a run of each question whose body was too large to be read."""

from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from time import monotonic_ns

from django import db
from django.conf import settings
from django.utils.datastructures import CaseInsensitiveMapping

from copilot_admin.copilots.callers import Caller
from copilot_admin.copilots.door import credentials_in, user_of
from copilot_admin.copilots.live import LiveCopilot, admit
from copilot_admin.copilots.user_words import named
from copilot_admin.errors import BodyTooLarge, RequestError
from copilot_admin.http.asgi_types import Scope, is_query
from copilot_admin.http.ids import SCOPE_KEY
from copilot_admin.http.proxy_users import words_in
from copilot_admin.http.slowed_guesses import looked_up
from copilot_admin.ids import Ids
from copilot_admin.storage.writer import READER
from copilot_admin.telemetry.refusals import tell_refusal
from copilot_admin.transcripts.store import JOURNAL, Refusal


async def record_oversized(scope: Scope, error: BodyTooLarge) -> None:
    """Stores the refusal, if the caller may ask the copilot at all; never raises.

    Args:
        scope: Of the request.
        error: What the client is told.
    """
    if scope["method"] != "POST" or not is_query(scope["path"]):
        return
    ids: Ids = scope[SCOPE_KEY]
    rows = ((name.decode("latin-1"), one.decode("latin-1")) for name, one in scope["headers"])
    credentials = credentials_in(CaseInsensitiveMapping(dict(rows)), words_in(scope))
    slug, came = scope["path"].split("/")[3], monotonic_ns()
    try:
        user = await user_of(credentials)
        admitted = partial(admit, slug, key=credentials.key, user=user)
        address = str((scope.get("client") or ("",))[0])
        live, caller = await READER.run(partial(looked_up, admitted, credentials.key, address))
    except (RequestError, db.Error):
        tell_refusal(error, ids=ids, came=came)
        return  # whoever may not ask gets the same answer, and leaves no trace
    tell_refusal(
        error,
        ids=ids,
        came=came,
        copilot=live.slug,
        version=live.version_number,
        caller=caller.principal,
        user=named(caller.user, settings.USER_IN_LOGS),
        is_trial=caller.is_trying,
        has_row=True,
    )
    with suppress(RequestError, db.Error):
        await JOURNAL.refuse(_refusal(error, ids=ids, live=live, caller=caller))


def _refusal(error: BodyTooLarge, *, ids: Ids, live: LiveCopilot, caller: Caller) -> Refusal:
    return Refusal(
        run_id=ids.run_id,
        copilot_id=live.id,
        version_id=live.version_id,
        version_number=live.version_number,
        logging=live.logging,
        principal=caller.principal,
        started_at=datetime.now(UTC),
        error=error.public,
        error_code=error.code,
        user=caller.user,
    )
