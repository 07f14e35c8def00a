"""Keeps a run of each question whose body was too large to be read."""

from datetime import UTC, datetime
from functools import partial

from django import db
from django.utils.datastructures import CaseInsensitiveMapping

from copilot_admin.copilots.callers import key_in
from copilot_admin.copilots.live import admit
from copilot_admin.edge.asgi_types import Scope, is_query
from copilot_admin.edge.ids import SCOPE_KEY
from copilot_admin.errors import BodyTooLarge, RequestError
from copilot_admin.ids import Ids
from copilot_admin.journal import JOURNAL, Refusal
from copilot_admin.storage.writer import READER


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
    key = key_in(CaseInsensitiveMapping(dict(rows)))
    slug = scope["path"].split("/")[3]
    try:
        live, caller = await READER.run(partial(admit, slug, key=key))
        await JOURNAL.refuse(
            Refusal(
                run_id=ids.run_id,
                copilot_id=live.id,
                version_id=live.version_id,
                version_number=live.version_number,
                logging=live.logging,
                principal=caller.principal,
                started_at=datetime.now(UTC),
                error=error.public,
                error_code=error.code,
            )
        )
    except (RequestError, db.Error):
        return  # whoever may not ask gets the same answer, and leaves no trace
